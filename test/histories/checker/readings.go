package main

import "slices"

// The payments of a client that callers tried to pay, and the nets that answers showed of them. The largest comes
// first, because the remaining sum then has few solutions.
type book struct {
	numbers map[string]int
	nets    []nets
}

func bookOf(records []*Record) book {
	known := map[string]nets{}
	var tried []string
	for _, record := range records {
		if record.Op == "pay" && !slices.Contains(tried, record.Payment) {
			tried = append(tried, record.Payment)
		}
		if seen := record.Seen; seen != nil {
			of := known[seen.ID]
			if seen.feeIsFinal() {
				of.final = seen.Net
			} else {
				of.estimated = seen.Net
			}
			known[seen.ID] = of
		}
	}
	slices.SortFunc(tried, func(a, b string) int { return int(known[b].estimated - known[a].estimated) })
	if len(tried) > 64 {
		panic("more than 64 payments of one client: a set of them fits no word")
	}
	of := book{numbers: map[string]int{}}
	for number, payment := range tried {
		of.numbers[payment] = number
		of.nets = append(of.nets, known[payment])
	}
	return of
}

func (of book) set(payment string) payments {
	number, tried := of.numbers[payment]
	if !tried {
		return 0
	}
	return 1 << number
}

// Every way in which the sum can be made of payments among these: with final fees alone, or with either.
func (of book) sums(total int64, among payments, finalOnly bool) []reading {
	var found []reading
	var most []int64
	for range of.nets {
		most = append(most, 0)
	}
	for number := len(of.nets) - 2; number >= 0; number-- {
		below := of.nets[number+1]
		most[number] = most[number+1] + max(below.estimated, below.final, 0)
	}
	var choose func(number int, left int64, chosen reading)
	choose = func(number int, left int64, chosen reading) {
		if number == len(of.nets) {
			if left == 0 {
				found = append(found, chosen)
			}
			return
		}
		one := payments(1) << number
		add := func(net int64, isFinal bool) {
			next := chosen
			next.credited |= one
			if isFinal {
				next.feeFinal |= one
			}
			if rest := left - net; net != 0 && rest >= 0 && rest <= most[number] && among.has(one) {
				choose(number+1, rest, next)
			}
		}
		add(of.nets[number].final, true)
		if !finalOnly && of.nets[number].estimated != of.nets[number].final {
			add(of.nets[number].estimated, false)
		}
		if left <= most[number] {
			choose(number+1, left, chosen)
		}
	}
	choose(0, total, reading{})
	return found
}

const everything = ^payments(0)

func (of book) readBalance(balance *Balance) []reading {
	var readings []reading
	if balance == nil || balance.Available != 0 {
		return nil
	}
	for _, out := range of.sums(balance.PaidOut, everything, true) {
		for _, held := range of.sums(balance.InSettlement, everything&^out.credited, true) {
			swept := out.credited | held.credited
			for _, pending := range of.sums(balance.Pending, everything&^swept, false) {
				readings = append(readings, reading{
					credited: swept | pending.credited,
					feeFinal: swept | pending.feeFinal,
					swept:    swept,
					paidOut:  out.credited,
				})
			}
		}
	}
	return readings
}

func (of book) readSettlements(nets []int64) []reading {
	readings := []reading{{}}
	for _, net := range nets {
		var next []reading
		for _, before := range readings {
			for _, one := range of.sums(net, everything&^before.swept, true) {
				set := before.swept | one.credited
				next = append(next, reading{credited: set, feeFinal: set, swept: set})
			}
		}
		readings = next
	}
	return readings
}
