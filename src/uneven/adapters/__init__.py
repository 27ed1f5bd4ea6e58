"""Losses and models in other libraries; each submodule is imported on first use, and may need an extra."""

from typing import TYPE_CHECKING

from uneven._lazy import on_first_use

if TYPE_CHECKING:
    from uneven.adapters import catboost as catboost
    from uneven.adapters import dask as dask
    from uneven.adapters import jax as jax
    from uneven.adapters import lightgbm as lightgbm
    from uneven.adapters import mlflow as mlflow
    from uneven.adapters import onnx as onnx
    from uneven.adapters import python as python
    from uneven.adapters import sql as sql
    from uneven.adapters import torch as torch
    from uneven.adapters import xgboost as xgboost

_MODULES = ("catboost", "dask", "jax", "lightgbm", "mlflow", "onnx", "python", "sql", "torch", "xgboost")

__all__ = list(_MODULES)
__getattr__, __dir__ = on_first_use(__name__, {}, _MODULES)
