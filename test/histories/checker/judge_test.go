package main

import (
	"slices"
	"testing"
)

// A checker that cannot refute proves nothing, so possible and impossible stories are judged.

const (
	expiry = int64(1_000)
	soon   = int64(500)
	late   = int64(2_000)
	// Nets of the payments a and b, as estimated and as final.
	netA, finalA = int64(100), int64(99)
	netB, finalB = int64(300), int64(297)
)

func seen(id, status string) *Seen {
	net := map[string]int64{"a": netA, "b": netB}[id]
	shown := &Seen{id, "at " + id, net, "ref-" + id, "then", expiry, status, "", net, "estimated"}
	if status == "succeeded" {
		shown.PaidAt = "now"
	}
	return shown
}

func final(id string) *Seen {
	shown := seen(id, "succeeded")
	shown.Net, shown.FeeStatus = map[string]int64{"a": finalA, "b": finalB}[id], "actual"
	return shown
}

func elsewhere(shown *Seen) *Seen {
	shown.Destination = "elsewhere"
	return shown
}

func call(op, outcome string, change ...func(*Record)) *Record {
	record := &Record{Op: op, Outcome: outcome, Client: "client", Key: "key", ClockMs: soon}
	for _, one := range change {
		one(record)
	}
	return record
}

func body(id string) func(*Record) {
	return func(record *Record) {
		record.Reference, record.Amount, record.Valid = "ref-"+id, seen(id, "").Amount, true
	}
}

func showing(shown *Seen) func(*Record) { return func(record *Record) { record.Seen = shown } }
func first(record *Record)              { record.First = true }
func atRest(record *Record)             { record.Rest = true }
func afterExpiry(record *Record)        { record.ClockMs = late }
func of(id string) func(*Record)        { return func(record *Record) { record.Payment = id } }
func saying(status string) func(*Record) {
	return func(record *Record) { record.Status = status }
}

// The call lasts for the whole story, beside all other calls.
func throughout(record *Record) {
	end := int64(1_000_000)
	record.Call, record.Return = 0, &end
}

func made(id string) *Record {
	return call("create", "ok", body(id), first, showing(seen(id, "pending")))
}
func get(shown *Seen) *Record   { return call("get", "ok", showing(shown)) }
func payment(id string) *Record { return call("pay", "ok", of(id)) }
func settled(net ...int64) *Record {
	return call("settle", "ok", func(record *Record) { record.Nets = net })
}
func paidOut(outcome string, net ...int64) *Record {
	return call("mark_paid", outcome, func(record *Record) { record.Nets = net })
}
func balance(pending, inSettlement, out int64) *Record {
	return call("balance", "ok", func(record *Record) { record.Balance = &Balance{pending, 0, inSettlement, out} })
}
func cancelled(id string) *Record {
	return call("cancel", "ok", of(id), showing(seen(id, "cancelled")))
}

// Calls happen one after the other, unless they have their own times.
func told(records ...*Record) []*Record {
	for at, record := range records {
		if record.Return == nil {
			returned := int64(10*at + 5)
			record.Call, record.Return = int64(10*at+1), &returned
		}
	}
	return records
}

var stories = []struct {
	model, name string
	records     []*Record
	holds       bool
}{
	{"keys", "one payment for every create of a key", told(made("a"), call("create", "ok", body("b"), showing(seen("a", "pending")))), true},
	{"keys", "two payment ids for one key", told(made("a"), call("create", "ok", body("b"), showing(seen("b", "pending")))), false},
	{"keys", "another destination", told(made("a"), call("create", "ok", body("a"), showing(elsewhere(seen("a", "pending"))))), false},
	{"keys", "made twice", told(made("a"), made("a")), false},
	{"keys", "replayed before it was made", told(call("create", "ok", body("b"), showing(seen("a", "pending"))), made("a")), false},
	{"keys", "a body that no caller sent", told(call("create", "ok", body("b"), first, showing(seen("a", "pending")))), false},
	{"keys", "taken over from a create without an answer", told(call("create", "unknown", body("a")), call("create", "ok", body("b"), first, showing(seen("a", "pending")))), true},
	{"keys", "overtaken by a create that used the first create's body", told(call("create", "ok", body("a"), throughout, showing(seen("a", "pending"))), call("create", "ok", body("b"), first, showing(seen("a", "pending")))), true},
	{"keys", "a claim that changes hands", told(call("create", "unknown", body("a")), call("create", "unknown", body("b")), call("find", "ok", showing(seen("a", "pending"))), call("find", "ok", showing(seen("b", "pending")))), false},
	{"keys", "not found while it is being made", told(call("create", "unknown", body("a")), call("find", "absent"), call("find", "ok", showing(seen("a", "pending")))), true},
	{"keys", "found and lost", told(made("a"), call("find", "absent")), false},
	{"keys", "a wrong body for a key that is free", told(call("create", "refused"), made("a")), true},
	{"keys", "a wrong body refused for a key that is set", told(made("a"), call("create", "refused")), false},
	{"keys", "an answer that no create gives", told(call("create", "other", body("a"))), false},

	{"payments", "paid and succeeded", told(made("a"), payment("a"), get(seen("a", "pending")), get(seen("a", "succeeded")), get(final("a"))), true},
	{"payments", "succeeded without money", told(made("a"), get(seen("a", "succeeded"))), false},
	{"payments", "pending again", told(made("a"), payment("a"), get(seen("a", "succeeded")), get(seen("a", "pending"))), false},
	{"payments", "never credited", told(made("a"), payment("a"), call("get", "ok", atRest, showing(seen("a", "pending")))), false},
	{"payments", "gone", told(made("a"), call("get", "absent", of("a"))), false},
	{"payments", "a final fee that moves", told(made("a"), payment("a"), get(final("a")), get(seen("a", "succeeded"))), false},
	{"payments", "paid at another time", told(made("a"), payment("a"), get(seen("a", "succeeded")), get(func() *Seen { shown := seen("a", "succeeded"); shown.PaidAt = "later"; return shown }())), false},
	{"payments", "two cancels at once", told(made("a"), call("cancel", "ok", throughout, showing(seen("a", "cancelled"))), cancelled("a")), true},
	{"payments", "cancelled again", told(made("a"), cancelled("a"), cancelled("a")), false},
	{"payments", "a cancel that was lost half-way", told(made("a"), call("cancel", "unknown", of("a")), call("pay", "refused", of("a")), get(seen("a", "pending")), get(seen("a", "cancelled"))), true},
	{"payments", "paid where it was cancelled", told(made("a"), cancelled("a"), payment("a")), false},
	{"payments", "cancelled where it was paid", told(made("a"), payment("a"), cancelled("a")), false},
	{"payments", "a cancel refused for the payment's status", told(made("a"), payment("a"), call("cancel", "refused", of("a"), saying("succeeded"))), true},
	{"payments", "a cancel refused for another status", told(made("a"), call("cancel", "refused", of("a"), saying("succeeded"))), false},
	{"payments", "not payable although it was not closed", told(made("a"), call("pay", "refused", of("a"))), false},
	{"payments", "failed upstream", told(made("a"), call("fail", "ok", of("a")), get(seen("a", "failed"))), true},
	{"payments", "failed without a failure upstream", told(made("a"), get(seen("a", "failed"))), false},
	{"payments", "expired", told(made("a"), call("get", "ok", afterExpiry, showing(seen("a", "expired")))), true},
	{"payments", "expired before its time", told(made("a"), get(seen("a", "expired"))), false},
	{"payments", "paid where it had expired", told(made("a"), call("get", "ok", afterExpiry, showing(seen("a", "expired"))), payment("a")), false},

	{"balances", "credited, made final, swept and paid out", told(made("a"), made("b"), payment("a"), payment("b"), balance(netA, 0, 0), balance(netA+netB, 0, 0), get(final("a")), balance(finalA+netB, 0, 0), settled(finalA), balance(netB, finalA, 0), paidOut("ok", finalA), balance(netB, 0, finalA)), true},
	{"balances", "credited twice", told(made("a"), payment("a"), balance(2*netA, 0, 0)), false},
	{"balances", "credited before a customer paid", told(made("a"), call("balance", "ok", func(record *Record) { record.Balance = &Balance{Pending: netA} }), payment("a")), false},
	{"balances", "a credit that is seen and missing", told(made("a"), payment("a"), get(seen("a", "succeeded")), balance(0, 0, 0)), false},
	{"balances", "a credit that is taken back", told(made("a"), payment("a"), balance(netA, 0, 0), balance(0, 0, 0)), false},
	{"balances", "in the balance and still pending", told(made("a"), payment("a"), balance(netA, 0, 0), get(seen("a", "pending"))), false},
	{"balances", "a final fee that is not in the balance", told(made("a"), payment("a"), get(final("a")), balance(netA, 0, 0)), false},
	{"balances", "swept with an estimated fee", told(made("a"), payment("a"), balance(0, netA, 0)), false},
	{"balances", "pending and swept at once", told(made("a"), payment("a"), get(final("a")), settled(finalA), balance(finalA, finalA, 0)), false},
	{"balances", "swept and pending again", told(made("a"), payment("a"), get(final("a")), balance(0, finalA, 0), balance(finalA, 0, 0)), false},
	{"balances", "in two settlements", told(made("a"), payment("a"), get(final("a")), settled(finalA), settled(finalA)), false},
	{"balances", "paid out without an operator", told(made("a"), payment("a"), get(final("a")), settled(finalA), balance(0, 0, finalA)), false},
	{"balances", "paid out twice", told(made("a"), payment("a"), get(final("a")), settled(finalA), paidOut("ok", finalA), paidOut("ok", finalA)), false},
	{"balances", "a payout without an answer", told(made("a"), payment("a"), get(final("a")), settled(finalA), paidOut("unknown", finalA), balance(0, 0, finalA), paidOut("refused", finalA)), true},
	{"balances", "a payout refused as done that was not", told(made("a"), payment("a"), get(final("a")), settled(finalA), paidOut("refused", finalA)), false},
}

func TestStories(t *testing.T) {
	for _, story := range stories {
		t.Run(story.model+": "+story.name, func(t *testing.T) {
			verdicts, err := judge(story.records, "")
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(verdicts, func(one Verdict) bool { return one.Model == story.model })
			verdict := verdicts[at]
			if holds := len(verdict.Refuted) == 0; holds != story.holds || verdict.Operations == 0 {
				t.Errorf("judged %+v", verdict)
			}
		})
	}
}
