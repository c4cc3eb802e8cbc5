// Command checker judges recorded histories of the gateway for linearizability, by Porcupine.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sort"

	"github.com/anishathalye/porcupine"
)

// A Record is one call of a caller as test/histories writes it down, a line of JSON each.
type Record struct {
	Op string `json:"op"`
	// Nanoseconds of one monotonic clock. Without a return the effect of the call, and its time, are unknown.
	Call   int64  `json:"call"`
	Return *int64 `json:"return"`

	Client  string `json:"client"`
	Key     string `json:"key"`
	Payment string `json:"payment"`

	// A create's body; one that is not valid can only bring back a payment that exists.
	Reference string `json:"reference"`
	Amount    int64  `json:"amount"`
	Valid     bool   `json:"valid"`

	// `ok`, `refused`, `absent` or `unknown`; any other outcome is an answer that the gateway must never give.
	Outcome string `json:"outcome"`
	// The payment was made by this very create.
	First bool `json:"first"`
	// The status that a refusal names, of the payment or the settlement.
	Status  string   `json:"status"`
	Seen    *Seen    `json:"seen"`
	Balance *Balance `json:"balance"`
	// The nets of the settlements that the call is about.
	Nets []int64 `json:"nets"`

	// The latest that the gateway's own clock can have been when this returned, in milliseconds.
	ClockMs int64 `json:"clock_ms"`
	// The gateway was at rest: no work may be under way.
	Rest bool `json:"rest"`
}

// Seen is a payment as an answer showed it.
type Seen struct {
	ID          string `json:"id"`
	Destination string `json:"destination"`
	Amount      int64  `json:"amount"`
	Reference   string `json:"reference"`
	CreatedAt   string `json:"created_at"`
	ExpiresAtMs int64  `json:"expires_at_ms"`
	Status      string `json:"status"`
	PaidAt      string `json:"paid_at"`
	Net         int64  `json:"net"`
	FeeStatus   string `json:"fee_status"`
}

// Balance is a client's balance with the figures of its settlements.
type Balance struct {
	Pending      int64 `json:"pending"`
	Available    int64 `json:"available"`
	InSettlement int64 `json:"in_settlement"`
	PaidOut      int64 `json:"paid_out"`
}

// The facts of a payment that never change after an answer shows it.
func (seen *Seen) facts() string {
	return fmt.Sprintf("%s %s %d %s %s %d", seen.ID, seen.Destination, seen.Amount, seen.Reference, seen.CreatedAt, seen.ExpiresAtMs)
}

func (seen *Seen) feeIsFinal() bool { return seen.FeeStatus != "estimated" }

func readHistory(from io.Reader) ([]*Record, error) {
	var records []*Record
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		record := &Record{}
		if err := json.Unmarshal(lines.Bytes(), record); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(records)+1, err)
		}
		records = append(records, record)
	}
	return records, lines.Err()
}

// A partition is a part that one model judges alone: a key, a payment, a client's balance.
type partition struct {
	name       string
	model      porcupine.NondeterministicModel
	operations []porcupine.Operation
}

func (record *Record) isKnown() bool { return record.Outcome != "unknown" }

const never = int64(math.MaxInt64)

// A call as Porcupine's operation. A call without an answer may have its effect at any later time.
func (record *Record) operation(input any) porcupine.Operation {
	returned := never
	if record.Return != nil && record.isKnown() {
		returned = *record.Return
	}
	return porcupine.Operation{Input: input, Call: record.Call, Return: returned}
}

// Assigns operations to lines of the picture, so that none overlap on a line and lines are few.
func inLanes(operations []porcupine.Operation) []porcupine.Operation {
	sort.SliceStable(operations, func(a, b int) bool { return operations[a].Call < operations[b].Call })
	var free []int64
	for at := range operations {
		lane := 0
		for lane < len(free) && free[lane] >= operations[at].Call {
			lane++
		}
		if lane == len(free) {
			free = append(free, 0)
		}
		free[lane] = operations[at].Return
		operations[at].ClientId = lane
	}
	return operations
}

func grouped(records []*Record, nameOf func(*Record) string) ([]string, map[string][]*Record) {
	groups := map[string][]*Record{}
	var names []string
	for _, record := range records {
		name := nameOf(record)
		if name == "" {
			continue
		}
		if _, known := groups[name]; !known {
			names = append(names, name)
		}
		groups[name] = append(groups[name], record)
	}
	return names, groups
}
