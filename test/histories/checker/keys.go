package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// One client's Idempotency-Key: a register that is set once, by whichever create claimed it first, and shows the same
// payment for ever (spec 4.1, rule 3).
type keyState struct {
	phase keyPhase
	// Identifies the create whose body the payment has.
	reference string
	amount    int64
	// Empty until a caller is shown the payment.
	facts string
}

type keyPhase int

const (
	unset keyPhase = iota
	// An attempt without an answer holds the key: no other body can claim it, and no answer shows the payment yet.
	claimed
	set
)

// Another caller may take over a create before its wait is over. The create may then have claimed the key for its own
// body before it returns the other caller's payment. That claim is a separate moment before the answer.
type keyStep struct {
	record  *Record
	claimed bool
}

func mayHaveClaimed(record *Record) bool {
	return record.Op == "create" && record.Outcome == "ok" && !record.First && record.Valid
}

func keyPartitions(records []*Record) []partition {
	names, groups := grouped(records, func(record *Record) string {
		if record.Op != "create" && record.Op != "find" {
			return ""
		}
		return record.Client + " " + record.Key
	})
	var partitions []partition
	for _, name := range names {
		var operations []porcupine.Operation
		for _, record := range groups[name] {
			if mayHaveClaimed(record) {
				operations = append(operations, record.operation(keyStep{record, true}))
			}
			operations = append(operations, record.operation(keyStep{record, false}))
		}
		partitions = append(partitions, partition{name, keyModel, inLanes(operations)})
	}
	return partitions
}

var keyModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{keyState{}} },
	Step: func(state, input, _ any) []any { return keyNext(state.(keyState), input.(keyStep)) },
	DescribeOperation: func(input, _ any) string {
		step := input.(keyStep)
		if step.claimed {
			return "claimed by " + step.record.Reference + ", or not"
		}
		return describe(step.record, fmt.Sprintf("%s %d", step.record.Reference, step.record.Amount))
	},
	DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
}

func keyNext(state keyState, step keyStep) []any {
	record := step.record
	switch {
	case step.claimed && state.phase == unset:
		return []any{state, state.claimedBy(record)}
	case step.claimed:
		return []any{state}
	case record.Op == "find" && record.Outcome == "ok":
		return state.shows(record.Seen)
	case record.Op == "find" && record.Outcome == "absent":
		return onlyIf(state.phase != set, state)
	case record.Op == "create" && record.Outcome == "ok" && record.First:
		return state.makes(record)
	case record.Op == "create" && record.Outcome == "ok":
		return state.shows(record.Seen)
	case record.Op == "create" && record.Outcome == "refused":
		// A wrong body is refused only if the key has no payment.
		return onlyIf(!record.Valid && state.phase == unset, state)
	case record.Op == "create" && record.Outcome == "unknown":
		return state.mayMake(record)
	}
	return nil
}

func (state keyState) claimedBy(record *Record) keyState {
	return keyState{claimed, record.Reference, record.Amount, ""}
}

// An answer shows the payment with unchanged facts. A claimed key is set by it.
func (state keyState) shows(seen *Seen) []any {
	isSame := state.phase != unset && state.reference == seen.Reference && state.amount == seen.Amount
	next := keyState{set, state.reference, state.amount, seen.facts()}
	return onlyIf(isSame && (state.facts == "" || state.facts == next.facts), next)
}

// This create made the payment, from its own body or from the body that had claimed the key.
func (state keyState) makes(record *Record) []any {
	switch state.phase {
	case unset:
		return onlyIf(record.Valid, state.claimedBy(record).shows(record.Seen)...)
	case claimed:
		return state.shows(record.Seen)
	}
	return nil
}

// A create with an unknown result: no effect, a claim, or a payment that no caller has seen yet.
func (state keyState) mayMake(record *Record) []any {
	switch {
	case state.phase == unset && record.Valid:
		own := state.claimedBy(record)
		return []any{state, own, keyState{set, own.reference, own.amount, ""}}
	case state.phase == claimed:
		return []any{state, keyState{set, state.reference, state.amount, ""}}
	}
	return []any{state}
}

func onlyIf(holds bool, next ...any) []any {
	if !holds {
		return nil
	}
	return next
}

// The text in the picture of a history.
func describe(record *Record, about string) string {
	said := record.Outcome
	if record.Status != "" {
		said += " " + record.Status
	}
	if record.First {
		said += ", made"
	}
	if record.Seen != nil {
		said += fmt.Sprintf(": %s %d %s", record.Seen.Reference, record.Seen.Amount, record.Seen.Status)
	}
	return fmt.Sprintf("%s(%s) -> %s", record.Op, about, said)
}
