"""How closely graders of distilled lessons agree with people.

cases.py     distillations with the grades that people gave, and the rubric in words
asked.py     a grader that asks a language model
ruled.py     a grader by rules, without a model
measures.py  what is made of both grades: within one, Pearson, bias, confusion
"""

from evals.calibration.cases import Grader, load_distillations
from evals.calibration.measures import Calibration, measured, spread
from evals.calibration.ruled import RuledGrader

__all__ = ["Calibration", "Grader", "RuledGrader", "load_distillations", "measured", "spread"]
