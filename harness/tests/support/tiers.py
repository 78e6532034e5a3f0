"""What every night tests, and not every commit.

The gate runs the first cases of these tests only; `ASSAY_TIER=nightly` runs the others, and
`ASSAY_TIER=all` both. Nothing is in no tier.
"""

import os
from collections import Counter
from collections.abc import Iterable
from math import inf

#: `gate`, `nightly` or `all`.
TIER = os.environ.get("ASSAY_TIER", "gate")
if TIER not in {"gate", "nightly", "all"}:
    raise ValueError(f"ASSAY_TIER is {TIER!r}; it must be gate, nightly or all")

#: The processor time, in seconds, that a case of the gate may take unless it is marked as slow; a
#: third of it on a quiet machine of today.
BUDGET = 10 if TIER == "gate" else inf

#: How many cases of a test, or of a whole file, the gate runs.
KEPT: dict[str, int] = {
    "sca/test_without_decision.py::test_all_obligations_are_met": 1,
    "openapi/test_bank_answers.py::test_a_mutation_is_found_by_its_facet_alone": 3,
    "openapi/test_bank_answers.py::test_a_sound_bank_keeps_its_own_document": 1,
    "openapi/test_bank_answers.py::test_what_schemathesis_finds": 1,
    "openapi/test_real.py::test_every_answer_of_a_sound_target_fits": 1,
    "examples/test_xs2a.py::test_a_bank_whose_consents_a_tpp_cannot_end": 0,
    "fuzzing/test_lives.py::test_a_fault_that_shows_after_an_event_is_found": 0,
    "extras/attestation/test_verification.py::test_a_run_is_verified": 2,
    "cli/test_cli.py::test_prove_finds_a_fault": 0,
    "cli/test_cli.py::test_run_with_no_arguments_is_the_main_job": 0,
    "cli/test_release_gate.py::test_the_gate": 2,
    "cli/test_secret_hunt.py::test_a_foreign_recording": 0,
    "cli/test_secret_hunt.py::test_a_run_with_oauth": 0,
    "cli/test_secret_hunt.py::test_the_hunt_finds_what_is_not_masked": 0,
    "cli/test_secret_hunt.py::test_the_pytest_plugin": 0,
    "cli/test_surroundings.py::test_a_process_of_its_own_ends_as_this_one_does": 0,
    "consent_tokens/test_payment_tokens.py::test_a_fault_turns_its_own_obligations_red": 1,
    "consent_tokens/test_payment_tokens.py::test_a_sound_bank_conforms": 1,
    "contract/test_manual.py::test_your_bank": 0,
    "onboarding/doctor/test_executed_requests.py::test_what_a_class_reports_is_examined": 0,
    "onboarding/doctor/test_generated_mistakes.py::test_no_mistake_in_the_file_is_blamed_on_the_bank": 1,
    "onboarding/doctor/test_guarded.py::test_the_line_is_named": 6,
    "onboarding/doctor/test_incomplete_files.py::test_a_neutral_variant_leaves_nothing_open_without_a_cause": 1,
    "onboarding/doctor/test_incomplete_files.py::test_what_is_left_out_is_not_blamed_on_the_bank": 0,
    "onboarding/doctor/test_mistakes.py::test_every_doubt_can_be_confirmed": 2,
    "onboarding/doctor/test_mistakes.py::test_mistakes_are_named_before_anything_is_judged": 8,
    "onboarding/doctor/test_mutants.py::test_another_bank_that_is_sound": 6,
    "onboarding/doctor/test_response_headers.py::test_a_header_that_no_answer_has": 2,
    "elsewhere/test_elsewhere.py::test_a_fault_is_found_by_what_it_breaks_and_by_nothing_else": 6,
    "elsewhere/test_elsewhere.py::test_by_command_over_http_no_python_is_needed_at_all": 0,
    "elsewhere/test_elsewhere.py::test_what_the_guide_leaves_open_is_right_either_way": 2,
    "examples/test_localstripe.py": 0,
    "examples/test_xs2a.py::test_a_fault_is_found_by_the_clause_of_its_sentence": 0,
    "examples/test_xs2a.py::test_the_sound_bank_conforms": 1,
    "holdout/test_field.py::test_the_sound_bank_violates_nothing": 0,
    "fixtures/test_roles_run.py::test_a_list_that_our_consents_narrow_hides_no_fault": 1,
    "fixtures/test_roles_run.py::test_over_http_as_in_process": 0,
    "fixtures/test_roles_run.py::test_the_whole_contract": 0,
    "extras/fleet/test_command.py::test_ctrl_c_ends_a_fleet_cleanly": 0,
    "extras/fleet/test_lost_worker.py::test_on_fresh_customers_a_lost_task_is_simply_run_again": 0,
    "extras/fleet/test_lost_worker.py::test_on_real_customers_no_quota_is_spent_twice": 0,
    "extras/fleet/test_run.py::test_changes_since_another_run": 0,
    "extras/fleet/test_run.py::test_shards_of_a_bank_are_merged": 0,
    "foreign/test_dialects.py::test_a_fault_violates_exactly_what_it_breaks": 60,
    "fuzzing/fields/test_scenarios.py::test_a_fault_is_found": 1,
    "fuzzing/test_no_false_alarms.py::test_nothing_is_found_at_a_sound_bank": 1,
    "fuzzing/test_no_false_alarms.py::test_nothing_is_found_where_clocks_change": 1,
    "fuzzing/test_no_false_alarms.py::test_nothing_is_found_where_the_document_is_silent": 2,
    "fuzzing/test_search.py::test_a_fault_is_found_in_a_short_sequence": 3,
    "fuzzing/test_search.py::test_each_violation_is_found_once": 0,
    "fuzzing/test_search.py::test_no_person_signs_random_requests": 1,
    "fuzzing/test_search.py::test_the_same_seed_makes_the_same_sequences": 1,
    "fuzzing/test_session.py::test_fields_are_searched_in_the_same_way": 0,
    "fuzzing/test_session.py::test_pytest_searches_each_operation_by_its_document": 0,
    "fuzzing/test_session.py::test_pytest_searches_with_the_option": 0,
    "fuzzing/test_session.py::test_the_journal_of_a_pytest_run": 0,
    "onboarding/init/test_init.py::test_a_shipped_dialect_is_a_beginning_that_runs": 0,
    "onboarding/init/test_init.py::test_every_answer_gives_a_file_that_can_be_read": 12,
    "onboarding/init/test_init.py::test_from_our_own_document_a_run_conforms_but_for_what_is_missing": 0,
    "onboarding/init/test_kind_template.py::test_the_skeleton_is_typed": 0,
    "journal/test_hostile_values.py::test_beside_everything_else": 3,
    "journal/test_hostile_values.py::test_in_place_of_an_amount": 3,
    "journal/test_hostile_values.py::test_in_place_of_every_text": 3,
    "journal/test_no_secrets_written.py": 0,
    "journal/redact/test_positions.py::test_hostile_texts": 8,
    "judging/test_selection.py::test_a_bank_that_is_no_mock": 1,
    "openapi/test_features.py::test_what_is_bound_is_in_the_document": 12,
    "openapi/test_real.py::test_a_bank_that_is_only_different_fits": 10,
    "openapi/test_real.py::test_every_operation_is_really_called": 1,
    "planning/test_growth.py::test_a_plan_takes_time_in_proportion_to_its_rules": 0,
    "proof/test_contextual_matrix.py::test_no_value_hides_what_another_shows": 6,
    "proof/test_contextual_matrix.py::test_what_cannot_be_found_has_a_reason": 2,
    "proof/test_kill_matrix.py::test_neutral_variants_stay_green_together": 4,
    "proof/test_readme.py::test_the_command_that_searches": 0,
    "proof/test_readme.py::test_the_first_command_does_the_main_job": 0,
    "pytest_plugin/test_cards.py::test_an_id_can_be_pasted_back": 0,
    "pytest_plugin/test_listed_customers.py::test_a_distribution_of_their_own_is_refused": 0,
    "pytest_plugin/test_listed_customers.py::test_a_run_is_limited_to_a_role": 0,
    "pytest_plugin/test_listed_customers.py::test_workers_do_not_share_customers": 0,
    "pytest_plugin/test_plugin.py::test_a_trial_stays_on_one_worker": 0,
    "pytest_plugin/test_plugin.py::test_a_violation_found_by_another_worker_is_an_error": 0,
    "pytest_plugin/test_plugin.py::test_an_incomplete_run_exits_with_3": 0,
    "pytest_plugin/test_plugin.py::test_an_item_is_tested_in_all_contexts": 0,
    "pytest_plugin/test_plugin.py::test_an_unreachable_target_ends_the_run_suites": 0,
    "pytest_plugin/test_plugin.py::test_an_unreachable_target_ends_the_workers": 0,
    "pytest_plugin/test_plugin.py::test_over_several_workers": 0,
    "pytest_plugin/test_plugin.py::test_shards_run_in_pytest_and_are_merged": 0,
    "pytest_plugin/test_plugin.py::test_suites_alone_mean_the_shipped_contracts": 0,
    "pytest_plugin/test_plugin.py::test_usage_errors_are_pytest_s_own": 1,
    "pytest_plugin/test_plugin.py::test_waivers_decide_the_exit_code_as_in_a_run_suites": 0,
    "report/test_hostile.py::test_huge": 4,
    "report/test_html_browser.py::test_large_page": 0,
    "report/test_merge.py::test_merged_shards_are_the_whole_run": 1,
    "rules/test_linear.py::test_a_late_chapter_costs_what_an_early_one_does": 15,
    "rules/test_new_kind.py::test_six_files_that_pass_as_they_stand": 0,
    "running/test_contextual.py::test_a_payment_rejected_because_nobody_signed_it_is_no_finding_of_another_clause": 0,
    "running/test_kills.py::test_a_killed_run_is_resumed": 0,
    "running/test_kills.py::test_a_killed_run_loses_nothing": 1,
    "running/test_lanes.py::test_the_record_is_that_of_a_run_one_after_another": 1,
    "running/test_own_requests.py::test_no_request_of_ours_repeats_another": 0,
    "running/test_safety_run.py::test_two_runs_on_one_day": 0,
    "runs/test_hostile_banks.py::test_hostile_banks": 0,
    "runs/test_secured_run.py::test_the_same_verdicts": 0,
    "runs/test_shipped.py::test_every_context_is_tested_whole": 0,
    "runs/test_shipped.py::test_no_false_alarm_in_the_night_of_a_change": 1,
    "runs/test_shipped.py::test_no_false_alarm_on_any_day": 1,
    "runs/test_shipped.py::test_the_same_over_http": 0,
    "runs/test_stet_run.py::test_the_same_faults": 0,
    "sandbox/dialects/test_stet_mutants.py::test_what_shows_shows_in_both": 20,
    "sca/test_browser.py": 7,
    "sca/test_browser.py::test_the_same_verdicts_as_by_forms": 0,
    "sca/test_manual.py::test_under_pytest_a_person_is_spoken_to": 0,
    "sca/test_manual.py::test_under_pytest_they_come_last_too": 0,
    "sca/test_page_limits.py::test_large_pages": 4,
    "sca/test_without_decision.py::test_all_obligations_are_met_in_every_context": 0,
    "traffic/proxy/test_server.py::test_a_browser_as_the_client": 0,
    "traffic/proxy/test_server.py::test_a_page_of_another_site_reaches_no_bank": 0,
    "traffic/proxy/test_server.py::test_the_screens_of_the_bank_work_in_a_browser": 0,
    "traffic/test_judge_bank.py::test_no_false_alarm": 4,
    "traffic/test_judge_bank.py::test_refusing_a_breach_of_the_tpp_violates_nothing": 4,
    "traffic/test_judge_tpp.py::test_each_violation": 4,
    "traffic/test_long_recordings.py::test_copies": 1,
    "traffic/test_match_request.py::test_every_request_matches_its_call": 1,
    "traffic/test_mutilations.py::test_mutilated_recordings": 1,
    "traffic/test_mutilations.py::test_one_of_two_contracts": 1,
    "traffic/test_mutilations.py::test_two_clients": 0,
    "traffic/test_odd_journals.py::test_each_value_of_each_wrong_type": 0,
    "traffic/test_recorders.py::test_a_bad_client_in_chromium": 0,
    "traffic/test_recorders.py::test_a_clean_client_in_chromium": 0,
    "traffic/test_session.py::test_a_bank_that_leaves_verdicts_open": 0,
    "traffic/test_session.py::test_a_sound_run": 0,
    "unsigned/test_unsigned.py::test_the_faults_of_payments": 2,
}

#: Tests that make up or go through their cases by themselves: a part in the gate, all at night.
SAMPLED: set[str] = {
    "rules/conditions/test_table_pairs.py::test_a_condition_with_every_atom_once_needs_one_world_more_than_atoms",
    "rules/conditions/test_table_pairs.py::test_pairs_are_those_of_brute_force",
    "rules/test_any_history.py::test_a_bank_that_answers_nobody_leaves_all_unclear",
    "rules/test_any_history.py::test_every_check_takes_any_history",
    "rules/test_consistent.py::test_a_sound_bank_never_violates",
    "rules/test_sound_banks.py::test_a_bank_that_answers_nobody_leaves_all_unclear",
    "rules/test_sound_banks.py::test_a_check_keeps_to_its_own_facets_and_to_what_happened",
    "rules/test_sound_banks.py::test_a_sound_bank_never_violates",
    "sandbox/dialects/test_stet_hostile.py::test_a_body_that_is_no_request_is_refused",
    "sandbox/dialects/test_stet_hostile.py::test_anything_is_answered",
}


def examples(most: int) -> int:
    """Return of how many made-up cases a test tries: a quarter in the gate, all at night."""
    return -(-most // 4) if TIER == "gate" else most


def in_tier(tests: Iterable[str]) -> list[bool]:
    """Return of each case whether this session runs it; `tests` has the file and test of each."""
    seen: Counter[str] = Counter()
    chosen = []
    for test in tests:
        key = test if test in KEPT else test.partition("::")[0]
        gate = seen[key] < KEPT.get(key, seen[key] + 1)
        chosen.append(TIER == "all" or test in SAMPLED or gate is (TIER == "gate"))
        seen[key] += 1
    return chosen
