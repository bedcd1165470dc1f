"""Truth: what the experts' votes come to, and how far to trust it. In: labels. Out: table truth. See README.md."""

from eds.truth.changes import TruthChange, truth_change
from eds.truth.coefficients import agreement
from eds.truth.dawid_skene import dawid_skene
from eds.truth.decision import Decision, compare, decide
from eds.truth.disputes import Consensus, consensus, disputed_pairs
from eds.truth.experts import expert_profiles
from eds.truth.joint_votes import JointVotes, joint_votes
from eds.truth.majority import expected_votes_early_stop, majority_accuracy, majority_vote
from eds.truth.noise import auc_under_label_noise, corrected_auc, label_contamination
from eds.truth.overrides import with_adjudications, with_imported
from eds.truth.panel import PanelAgreement, panel_agreement

__all__ = [
    "Consensus",
    "Decision",
    "JointVotes",
    "PanelAgreement",
    "TruthChange",
    "agreement",
    "auc_under_label_noise",
    "compare",
    "consensus",
    "corrected_auc",
    "dawid_skene",
    "decide",
    "disputed_pairs",
    "expected_votes_early_stop",
    "expert_profiles",
    "joint_votes",
    "label_contamination",
    "majority_accuracy",
    "majority_vote",
    "panel_agreement",
    "truth_change",
    "with_adjudications",
    "with_imported",
]
