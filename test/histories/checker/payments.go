package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// One payment and the request that its customer can pay upstream. The gateway's own steps, after a callback or when
// work is due, are no calls: such a step may have happened before any read that shows it, after its cause.
type paymentState struct {
	status   string
	upstream upstreamState
	// The payment's merchant asked for the cancel that closed the request upstream.
	isCancelled bool
	facts       string
	expiresAtMs int64
	// The figures as first shown after success; the net changes at most once, when the fee becomes final.
	paidAt     string
	net        int64
	feeIsFinal bool
}

type upstreamState int

const (
	open upstreamState = iota
	paid
	failed
	closed
)

// A cancel is three moments between its call and its answer, in this order: it found the payment pending, it closed the
// request upstream, and the payment was cancelled.
type cancelMoment int

const (
	foundPending cancelMoment = iota
	closedUpstream
	answered
)

type paymentStep struct {
	record *Record
	moment cancelMoment
}

func paymentPartitions(records []*Record) []partition {
	names, groups := grouped(records, func(record *Record) string {
		if record.Seen != nil {
			return record.Seen.ID
		}
		return record.Payment
	})
	var partitions []partition
	for _, name := range names {
		var operations []porcupine.Operation
		for _, record := range groups[name] {
			for _, moment := range momentsOf(record) {
				operations = append(operations, record.operation(paymentStep{record, moment}))
			}
		}
		partitions = append(partitions, partition{name, paymentModel, inLanes(operations)})
	}
	return partitions
}

func momentsOf(record *Record) []cancelMoment {
	switch {
	case record.Op == "cancel" && record.Outcome == "ok":
		return []cancelMoment{foundPending, closedUpstream, answered}
	case record.Op == "cancel" && !record.isKnown():
		return []cancelMoment{closedUpstream}
	}
	return []cancelMoment{answered}
}

var paymentModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{paymentState{status: "pending"}} },
	Step: func(state, input, _ any) []any { return paymentNext(state.(paymentState), input.(paymentStep)) },
	DescribeOperation: func(input, _ any) string {
		step := input.(paymentStep)
		if step.record.Op == "cancel" {
			return describe(step.record, []string{"found pending", "closed upstream", "answered"}[step.moment])
		}
		return describe(step.record, "")
	},
	DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
}

func paymentNext(state paymentState, step paymentStep) []any {
	record := step.record
	switch {
	case step.moment == foundPending:
		return onlyIf(state.status == "pending", state)
	case step.moment == closedUpstream && record.isKnown():
		return state.closeUpstream()
	case step.moment == closedUpstream:
		return append(state.closeUpstream(), state)
	case record.Op == "pay" || record.Op == "fail":
		return state.customer(record)
	case record.Outcome == "ok":
		return state.shows(record)
	case record.Op == "cancel" && record.Outcome == "refused":
		next, can := state.become(record.Status, record.ClockMs)
		return onlyIf(can && record.Status != "pending", next)
	}
	return nil
}

func (state paymentState) closeUpstream() []any {
	if state.upstream == open {
		state.upstream = closed
	}
	state.isCancelled = true
	return onlyIf(state.upstream == closed, state)
}

// The customer pays or fails to pay: the provider allows both only while the request is open.
func (state paymentState) customer(record *Record) []any {
	next := state
	next.upstream = map[string]upstreamState{"pay": paid, "fail": failed}[record.Op]
	switch record.Outcome {
	case "ok":
		return onlyIf(state.upstream == open, next)
	case "refused":
		if state.upstream == open && state.isPastItsTime(record.ClockMs) {
			state.upstream = closed
		}
		return onlyIf(state.upstream != open, state)
	case "unknown":
		return append(onlyIf(state.upstream == open, next), state)
	}
	return nil
}

func (state paymentState) isPastItsTime(clockMs int64) bool {
	return state.facts != "" && clockMs >= state.expiresAtMs
}

// An answer shows the payment with unchanged facts, in its status or in a status that it can have reached.
func (state paymentState) shows(record *Record) []any {
	seen := record.Seen
	if seen == nil || (state.facts != "" && state.facts != seen.facts()) {
		return nil
	}
	state.facts, state.expiresAtMs = seen.facts(), seen.ExpiresAtMs
	wasSucceeded := state.status == "succeeded"
	next, can := state.become(seen.Status, record.ClockMs)
	if !can || (record.Rest && next.isUnderWay()) {
		return nil
	}
	if seen.Status != "succeeded" {
		return onlyIf(seen.PaidAt == "", next)
	}
	if wasSucceeded && state.paidAt != "" {
		isSame := state.paidAt == seen.PaidAt && (state.net == seen.Net || !state.feeIsFinal && seen.feeIsFinal())
		if !isSame || state.feeIsFinal && !seen.feeIsFinal() {
			return nil
		}
	}
	next.paidAt, next.net, next.feeIsFinal = seen.PaidAt, seen.Net, seen.feeIsFinal()
	return onlyIf(seen.PaidAt != "", next)
}

// Paid, failed or cancelled upstream, and still pending here.
func (state paymentState) isUnderWay() bool {
	return state.status == "pending" && state.upstream != open
}

// The payment in that status: its own, or a status that follows from events upstream or from its expiry.
func (state paymentState) become(status string, clockMs int64) (paymentState, bool) {
	if state.status == status {
		return state, true
	}
	can := false
	switch status {
	case "succeeded":
		can = state.upstream == paid
	case "failed":
		can = state.upstream == failed
	case "cancelled":
		can = state.upstream == closed && state.isCancelled
	case "expired":
		can = state.upstream != paid && state.isPastItsTime(clockMs)
		if state.upstream == open {
			state.upstream = closed
		}
	}
	can = can && state.status == "pending"
	state.status = status
	return state, can
}
