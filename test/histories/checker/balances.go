package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// One client's money, as sets of its payments. A payment's credit, its final fee and the sweep that takes it are the
// gateway's own steps. Each happens once, at any time before the first answer that shows it, and is never undone. Only
// operators pay out. No two sets of payments have the same sum, so a balance identifies the payments in it.
type balanceState struct {
	paidAtProvider, credited, feeFinal, swept, paidOut payments
}

type payments uint64

func (set payments) has(others payments) bool { return set&others == others }

// What a payment adds to its client's balance; 0 where no answer ever showed it.
type nets struct{ estimated, final int64 }

// The sets of payments whose sum a balance or a settlement can be.
type reading struct{ credited, feeFinal, swept, paidOut payments }

type balanceStep struct {
	record   *Record
	payment  payments
	readings []reading
}

func balancePartitions(records []*Record) []partition {
	names, groups := grouped(records, func(record *Record) string { return record.Client })
	var partitions []partition
	for _, name := range names {
		book := bookOf(groups[name])
		var operations []porcupine.Operation
		for _, record := range groups[name] {
			if step, counts := book.step(record); counts {
				operations = append(operations, record.operation(step))
			}
		}
		partitions = append(partitions, partition{name, balanceModel, inLanes(operations)})
	}
	return partitions
}

func (of book) step(record *Record) (balanceStep, bool) {
	step := balanceStep{record: record}
	switch {
	case record.Seen != nil:
		step.payment = of.set(record.Seen.ID)
		// No caller tried to pay it: only a success tells something new.
		return step, step.payment != 0 || record.Seen.Status == "succeeded"
	case record.Op == "pay" && record.Outcome != "refused":
		step.payment = of.set(record.Payment)
		return step, true
	case record.Op == "balance" && record.Outcome == "ok":
		step.readings = of.readBalance(record.Balance)
		return step, true
	case record.Op == "settle" || record.Op == "mark_paid":
		step.readings = of.readSettlements(record.Nets)
		return step, true
	}
	return step, record.Op == "balance"
}

var balanceModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{balanceState{}} },
	Step: func(state, input, _ any) []any { return balanceNext(state.(balanceState), input.(balanceStep)) },
	DescribeOperation: func(input, _ any) string {
		step := input.(balanceStep)
		if step.record.Balance != nil {
			return fmt.Sprintf("balance() -> %+v", *step.record.Balance)
		}
		return describe(step.record, fmt.Sprintf("%x %v", uint64(step.payment), step.record.Nets))
	},
	DescribeState: func(state any) string { return fmt.Sprintf("%x", state) },
}

func balanceNext(state balanceState, step balanceStep) []any {
	record := step.record
	switch {
	case record.Seen != nil:
		return state.sees(step.payment, record.Seen)
	case record.Op == "pay":
		state.paidAtProvider |= step.payment
		return []any{state}
	case record.Op == "balance":
		return each(step.readings, func(is reading) []any { return state.shows(is) })
	case record.Op == "settle" && record.Outcome == "ok":
		return each(step.readings, func(taken reading) []any {
			return onlyIf(state.swept&taken.swept == 0, state.sweeps(taken)...)
		})
	case record.Op == "mark_paid" && record.Outcome == "ok":
		return each(step.readings, state.paysOut)
	case record.Op == "mark_paid" && record.Outcome == "unknown":
		return append(each(step.readings, state.paysOut), state)
	case record.Op == "mark_paid" && record.Outcome == "refused":
		return each(step.readings, func(out reading) []any { return onlyIf(state.paidOut.has(out.swept), state) })
	}
	return nil
}

func each(readings []reading, next func(reading) []any) []any {
	var states []any
	for _, one := range readings {
		states = append(states, next(one)...)
	}
	return states
}

// A payment and its credit are one transaction: a caller who sees one sees the other.
func (state balanceState) sees(payment payments, seen *Seen) []any {
	if seen.Status != "succeeded" {
		return onlyIf(state.credited&payment == 0, state)
	}
	if !seen.feeIsFinal() {
		return onlyIf(payment != 0 && state.feeFinal&payment == 0, state.credits(payment, 0)...)
	}
	return onlyIf(payment != 0, state.credits(payment, payment)...)
}

func (state balanceState) credits(credited, feeFinal payments) []any {
	state.credited |= credited
	state.feeFinal |= feeFinal
	return onlyIf(state.paidAtProvider.has(credited), state)
}

func (state balanceState) sweeps(taken reading) []any {
	state.swept |= taken.swept
	return state.credits(taken.credited, taken.feeFinal)
}

// A payout of this settlement, which no payout had taken before.
func (state balanceState) paysOut(out reading) []any {
	if state.paidOut&out.swept != 0 {
		return nil
	}
	state.paidOut |= out.swept
	return state.sweeps(out)
}

// A balance has all payments that earlier answers showed, and only payments that callers paid. Operators made its payouts.
func (state balanceState) shows(is reading) []any {
	holdsAll := is.credited.has(state.credited) && is.feeFinal.has(state.feeFinal) && is.swept.has(state.swept)
	return onlyIf(holdsAll && is.paidOut == state.paidOut, state.sweeps(is)...)
}
