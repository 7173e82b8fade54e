"""The public API that users have, written out: a name or a parameter that changes is seen here first.

A method that is new in the table of methods is listed here, and on its page, when it is released.
"""

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import privet
from privet import errors, methods

NAMES = {
    "privet": (
        "Categorical Channel Coding DPDFClassifier DPRFClassifier Date DiffPID3Classifier FieldSampling GaussianNoise "
        "HorizontalForest Intervals LaplaceNoise Ledger Numeric Party PrivateForestClassifier PrivateForestRegressor "
        "PrivateID3Classifier PrivateRDTClassifier PrivateSearch RandomResponseForestClassifier RandomizedResponse "
        "ReconstructionTreeClassifier RecordComplement SampledForestClassifier Schema Secret UniformNoise "
        "VerticalForest __version__ audit audit_in_one_run load membership_inference perturb reconstruct rehearse"
    ),
    "privet.attack": "Audit Membership OneRun audit audit_in_one_run membership_inference",
    "privet.central": (
        "DPDFClassifier DPRFClassifier DiffPID3Classifier PrivateForestClassifier PrivateForestRegressor "
        "PrivateID3Classifier PrivateRDTClassifier"
    ),
    "privet.datasets": "Dataset UCI_NAMES agrawal tic_tac_toe uci uci_folder",
    "privet.export": "FORMATS export_model portable_document register_converters",
    "privet.local": (
        "Channel Coding FieldSampling GaussianNoise Intervals LaplaceNoise RandomResponseForestClassifier "
        "RandomizedResponse ReconstructionTreeClassifier RecordComplement SampledForestClassifier Secret UniformNoise "
        "measure perturb plan_answers reconstruct simulate_answers"
    ),
    "privet.partitioned": (
        "ForestRound HorizontalForest NewtonRound Party PrivateKey PublicKey Release Roster SecureSumForest "
        "SplitStructure Structure SumParty TableForest TableRound Terms VerticalForest"
    ),
    "privet.rehearsal": "Rehearsal rehearse",
    "privet.report": (
        "export_text plot_answers_plan plot_importances plot_reconstruction plot_rehearsal plot_reliability "
        "plot_shapes plot_tree write_report"
    ),
    "privet.signing": "ModelSignature PrivateKey PublicKey Roster sign_model verify_model",
    "privet.errors": (
        "BudgetExceeded ChannelError DataError DatasetUnavailable DiskFull EntropyError ExecutorError LedgerError "
        "ModelFileError NoGuaranteeWarning Note ParameterError PartyError PrivacyLeakWarning PrivetError "
        "SchemaError SignatureError StructureTooLarge"
    ),
}
# Of each estimator: its parameters in order, with their defaults.
PARAMETERS = {
    "PrivateForestClassifier": (
        "schema=None epsilon=1.0 delta=0.0 n_attributes=None n_bins=None group_size=None prior_variance=None "
        "balance_share=None selection_share=None monotonic_cst=None class_weight=None unit='row' max_rows=1 "
        "ledger=None random_state=None "
        "n_jobs=None verbose=0 unsafe_seeded_noise=False"
    ),
    "PrivateForestRegressor": (
        "schema=None epsilon=1.0 delta=0.0 n_attributes=None n_bins=None group_size=None prior_variance=None "
        "balance_share=None selection_share=None monotonic_cst=None unit='row' max_rows=1 ledger=None "
        "random_state=None n_jobs=None verbose=0 unsafe_seeded_noise=False"
    ),
    "PrivateRDTClassifier": (
        "schema=None epsilon=1.0 n_trees=10 height=None "
        "class_weight=None unit='row' max_rows=1 ledger=None random_state=None "
        "n_jobs=None verbose=0 unsafe_seeded_noise=False"
    ),
    "DPRFClassifier": (
        "schema=None epsilon=1.0 n_trees=None noise_factor='classes' vote='max_confidence' "
        "missing_branches='reliable' "
        "class_weight=None unit='row' max_rows=1 ledger=None random_state=None n_jobs=None verbose=0 "
        "unsafe_seeded_noise=False"
    ),
    "DPDFClassifier": (
        "schema=None epsilon=1.0 n_trees=1 height=4 criterion='gini' numeric='bins' min_support=100 "
        "variant='sound' class_weight=None unit='row' max_rows=1 ledger=None random_state=None n_jobs=None verbose=0 "
        "unsafe_seeded_noise=False"
    ),
    "DiffPID3Classifier": (
        "schema=None epsilon=1.0 height=4 criterion='gini' min_support=None "
        "class_weight=None unit='row' max_rows=1 ledger=None "
        "random_state=None n_jobs=None verbose=0 unsafe_seeded_noise=False"
    ),
    "PrivateID3Classifier": (
        "schema=None epsilon=1.0 height=None variant='privet' "
        "class_weight=None unit='row' max_rows=1 ledger=None random_state=None "
        "n_jobs=None verbose=0 unsafe_seeded_noise=False"
    ),
    "ReconstructionTreeClassifier": (
        "schema=None channel=None strategy='by_class' min_rows=None purity=0.99 min_gain=0.0 "
        "min_reconstructed=None height=None cautious=True random_state=None n_jobs=None verbose=0 person=None"
    ),
    "RandomResponseForestClassifier": (
        "schema=None channel=None n_trees=100 max_features='sqrt' min_rows=None min_leaf=1 max_depth=None "
        "bootstrap=True vote='mean' cautious=True random_state=None n_jobs=None verbose=0 person=None"
    ),
    "SampledForestClassifier": (
        "schema=None channel=None cautious=True random_state=None n_jobs=None verbose=0 person=None"
    ),
    "HorizontalForest": (
        "schema=None parties=() epsilon=1.0 class_weight=None unit='row' max_rows=1 ledger=None n_jobs=None verbose=0 "
        "unsafe_seeded_noise=False"
    ),
    "VerticalForest": (
        "schema=None parties=() epsilon=1.0 class_weight=None unit='row' max_rows=1 ledger=None n_jobs=None verbose=0 "
        "unsafe_seeded_noise=False"
    ),
    "SecureSumForest": (
        "schema=None parties=() epsilon=1.0 class_weight=None unit='row' max_rows=1 ledger=None n_jobs=None verbose=0 "
        "unsafe_seeded_noise=False"
    ),
    "TableForest": (
        "schema=None parties=() epsilon=1.0 class_weight=None unit='row' max_rows=1 ledger=None n_jobs=None verbose=0 "
        "unsafe_seeded_noise=False"
    ),
}

NEW_METHODS = {method.class_name for method in methods.METHODS} - set(PARAMETERS)


@pytest.mark.parametrize("package", [name for name in NAMES if name != "privet.errors"])
def test_a_package_offers_these_names_and_no_others_but_new_methods(package):
    module = importlib.import_module(package)
    assert sorted(set(module.__all__) - NEW_METHODS) == NAMES[package].split()
    assert all(getattr(module, name) is not None for name in module.__all__)
    assert set(module.__all__) <= set(dir(module))


def test_these_are_the_errors_and_warnings():
    own = {
        name for name, found in vars(errors).items() if inspect.isclass(found) and found.__module__ == "privet.errors"
    }
    assert sorted(own) == NAMES["privet.errors"].split()


@pytest.mark.parametrize("name", PARAMETERS)
def test_an_estimator_has_these_parameters_and_defaults(name):
    (method,) = [method for method in methods.METHODS if method.class_name == name]
    signature = inspect.signature(getattr(importlib.import_module(method.home), name))
    shown = [f"{parameter.name}={parameter.default!r}" for parameter in signature.parameters.values()]
    assert " ".join(shown) == PARAMETERS[name]


@pytest.mark.parametrize("name", NAMES["privet.central"].split())
def test_the_page_about_methods_has_every_method_of_a_curator(name):
    (method,) = [method for method in methods.METHODS if method.class_name == name]
    page = (Path(__file__).parents[1] / "docs" / "methods.md").read_text()
    assert f"`{name}" in page
    assert f"`{method.name}`" in page


@pytest.mark.parametrize("package", ["privet", "privet.central", "privet.local", "privet.partitioned"])
def test_type_checkers_see_the_names_that_are_offered(package):
    module = importlib.import_module(package)
    assert sorted(names_for_type_checkers(module)) == [name for name in module.__all__ if name != "__version__"]


def names_for_type_checkers(module):
    """Return what a package imports where a type checker reads it."""
    (block,) = [node for node in ast.parse(Path(module.__file__).read_text()).body if isinstance(node, ast.If)]
    found = []
    for node in block.body:
        stars = [name.name == "*" for name in node.names]
        found += importlib.import_module(node.module).__all__ if any(stars) else [name.asname for name in node.names]
    return found


def test_nothing_but_public_names_is_listed():
    import privet.central

    assert dir(privet) == sorted(privet.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'privet' has no attribute 'Magic'"):
        privet.Magic  # noqa: B018


def test_importing_privet_loads_no_heavy_library():
    code = (
        "import sys, privet; print([m for m in ('numpy', 'numba', 'sklearn', 'pandas', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
