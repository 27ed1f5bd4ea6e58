"""What the adapters of XGBoost, LightGBM and CatBoost share."""
