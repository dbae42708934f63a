package stocksql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"comanda/internal/stock"
)

// Concurrent operations on the stock are linearizable: their results equal those of some sequential order, in which
// each operation happens between its call and its return.

// call is one operation of a caller.
type call struct {
	act  stock.Action
	id   int
	qty  [2]int64 // quantities of a Try: rice and eggs
	item int      // the reservation's only item, if histories are partitioned by item
}

// most is the number of units of each item, and ids the number of reservations that compete for them.
const (
	most = 6
	ids  = 64
)

// reservationModel is one reservation in the sequential model.
type reservationModel struct {
	state stock.Status // empty: unknown
	qty   [2]int64
}

// inventory is the sequential model: it runs one operation after the other.
type inventory [ids]reservationModel

func (v inventory) left(item int) int64 {
	n := int64(most)
	for _, k := range v {
		if k.state == stock.StatusReserved || k.state == stock.StatusConfirmed {
			n -= k.qty[item]
		}
	}
	return n
}

// do returns the result of a call and the state after it.
func (v inventory) do(a call) (string, inventory) {
	k := &v[a.id]
	live := k.state == stock.StatusReserved || k.state == stock.StatusConfirmed
	switch {
	case a.act == stock.Try && k.state == "":
		k.state, k.qty = stock.StatusReserved, a.qty
		if v.left(0) < 0 || v.left(1) < 0 {
			k.state = stock.StatusRefused
			return stock.ErrInsufficientStock.Code, v
		}
	case a.act == stock.Try && live && k.qty != a.qty:
		return stock.ErrIDReused.Code, v
	case a.act == stock.Try && k.state == stock.StatusRefused:
		return stock.ErrInsufficientStock.Code, v
	case a.act == stock.Try && !live:
		return stock.ErrReservationEnded.Code, v
	case a.act == stock.Try:
	case k.state == "" && a.act == stock.Cancel:
		k.state = stock.StatusCancelled
	case k.state == "":
		return stock.ErrReservationNotFound.Code, v
	default:
		return k.settle(a.act), v
	}
	return "", v
}

// settle ends an existing reservation.
func (k *reservationModel) settle(act stock.Action) string {
	ended := k.state == stock.StatusCancelled || k.state == stock.StatusRefused
	switch {
	case act == stock.Confirm && k.state == stock.StatusReserved:
		k.state = stock.StatusConfirmed
	case act == stock.Cancel && k.state == stock.StatusReserved:
		k.state = stock.StatusCancelled
	case act == stock.Return && k.state == stock.StatusConfirmed:
		k.state = stock.StatusReturned
	case act == stock.Confirm && k.state == stock.StatusConfirmed, act == stock.Cancel && ended, act == stock.Return && k.state == stock.StatusReturned:
	case act == stock.Cancel && k.state == stock.StatusConfirmed:
		return stock.ErrAlreadyConfirmed.Code
	case act == stock.Return && k.state == stock.StatusReserved:
		return stock.ErrNotConfirmed.Code
	default:
		return stock.ErrReservationEnded.Code
	}
	return ""
}

// sequential returns the sequential model for the checker.
func sequential() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return inventory{} },
		Step: func(state, input, output any) (bool, any) {
			answer, next := state.(inventory).do(input.(call))
			return answer == output.(string), next
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %q", input, output) },
	}
}

// byItem partitions a history by item. Every reservation has only one item.
func byItem(history []porcupine.Operation) [][]porcupine.Operation {
	parts := map[int][]porcupine.Operation{}
	for _, o := range history {
		item := o.Input.(call).item
		parts[item] = append(parts[item], o)
	}
	var all [][]porcupine.Operation
	for _, p := range parts {
		all = append(all, p)
	}
	return all
}

// record runs several callers concurrently, each with one call after the other, and records the start, the end and the
// result of every call.
func (s *fixture) record(callers, each int, next func(caller, n int) call, do func(p *process, a call) error) []porcupine.Operation {
	var mu sync.Mutex
	var history []porcupine.Operation
	begun := time.Now()
	s.inParallel(callers, func(caller int, p *process) {
		for n := range each {
			a := next(caller, n)
			call := time.Since(begun).Nanoseconds()
			err := do(p, a)
			returnedAt := time.Since(begun).Nanoseconds()
			answer := code(err)
			if err != nil && answer == "" {
				answer = err.Error()
			}
			mu.Lock()
			history = append(history, porcupine.Operation{ClientId: caller, Input: a, Call: call, Output: answer, Return: returnedAt})
			mu.Unlock()
		}
	})
	return history
}

// wantLinear fails the test if no sequential order explains the results, and shows where.
func (s *fixture) wantLinear(m porcupine.Model, history []porcupine.Operation) {
	s.Helper()
	if result := porcupine.CheckOperationsTimeout(m, history, 3*time.Minute); result != porcupine.Ok {
		for _, o := range history {
			s.Logf("from %9d to %9d µs, client %d: %s", o.Call/1000, o.Return/1000, o.ClientId, m.DescribeOperation(o.Input, o.Output))
		}
		s.Fatalf("the history of %d operations is %s", len(history), result)
	}
}

// SQL alone is linearizable under concurrent commands of two processes on a few reservations of two items.
func TestLinearizable_sql(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		for round := range 15 {
			items := [2]int64{s.receive(fmt.Sprint("rice", round), most), s.receive(fmt.Sprint("eggs", round), most)}
			next := func(int, int) call {
				acts := []stock.Action{stock.Try, stock.Try, stock.Try, stock.Confirm, stock.Cancel, stock.Return}
				a := call{act: acts[rand.IntN(len(acts))], id: rand.IntN(8)}
				a.qty = [2]int64{1 + int64(a.id%3), int64(a.id % 4)}
				if rand.IntN(5) == 0 {
					a.qty[0]++ // different content for a Try, and a wrong claim of a Confirm
				}
				return a
			}
			history := s.record(8, 7, next, func(p *process, a call) error {
				return s.command(p, round, a, items)
			})
			s.wantLinear(sequential(), history)
		}
		s.wantCacheEqual(s.syncer.Reconcile) // if a return reaches Redis before its sale, the count is wrong until Reconcile runs
	})
}

// command runs a command in SQL without the cache.
func (s *fixture) command(p *process, round int, a call, items [2]int64) error {
	d := stock.Command{Action: a.act, ID: fmt.Sprint(round, ".", a.id)}
	d.Hold = stock.Hold{ID: stock.HoldID(d.ID), Scope: stock.StockScope(s.branch), Until: s.clock.now().Add(time.Hour)}
	for i, qty := range a.qty {
		if qty > 0 {
			d.Hold.Lines = append(d.Hold.Lines, stock.Line{Item: items[i], Qty: qty})
		}
	}
	r, err := p.reservations.Do(context.Background(), d)
	if err == nil {
		err = r.Err
	}
	return err
}

// behind is the time that a refusal may lag behind the committed state. The cache's refusals are checked against
// counters that were read up to this long ago.
const behind = 20 * time.Millisecond

// With the cache in front, the inventory is linearizable except for refusals: "not enough stock" may describe an
// earlier moment, at which it was true.
func TestLinearizable_with_cache(t *testing.T) {
	eachFixture(t, func(s *fixture) {
		s.awaitBuilt()
		for round := range 5 {
			skus := make([]string, 4)
			for i := range skus {
				skus[i] = fmt.Sprint("item", round, ".", i)
				s.receive(skus[i], most)
			}
			const callers, each = 8, 12
			own, made := [callers]call{}, [callers]int{}
			next := func(caller, _ int) call {
				a := &own[caller]
				switch a.act {
				case stock.Try:
					a.act = []stock.Action{stock.Try, stock.Confirm, stock.Cancel}[rand.IntN(3)]
				case stock.Confirm:
					a.act = []stock.Action{stock.Return, stock.Cancel}[rand.IntN(2)]
				default: // a new reservation under an unused id; each takes at least two calls
					*a = call{act: stock.Try, id: caller*ids/callers + made[caller], item: rand.IntN(len(skus))}
					a.qty[0] = 1 + rand.Int64N(3)
					made[caller]++
				}
				return *a
			}
			history := s.record(callers, each, next, func(p *process, a call) error {
				return s.sendCommand(p, fmt.Sprint(round, ".", a.item, ".", a.id), skus[a.item], a)
			})
			m := sequential()
			m.Partition = byItem
			s.wantLinear(m, lenient(history))
		}
		s.wantCacheEqual(s.syncer.Reconcile)
	})
}

// sendCommand sends a command through the reservation service, as other systems do.
func (s *fixture) sendCommand(p *process, id, sku string, a call) (err error) {
	ctx := context.Background()
	switch a.act {
	case stock.Try:
		_, _, err = p.stores.Reserve(ctx, syncer, request(id, stock.SKULine{SKU: sku, Qty: a.qty[0]}))
	case stock.Confirm:
		_, err = p.stores.Confirm(ctx, syncer, id)
	case stock.Cancel:
		_, err = p.stores.Cancel(ctx, syncer, id)
	case stock.Return:
		_, err = p.stores.Return(ctx, syncer, id)
	}
	return err
}

// lenient moves the start of refused Tries back by the time that a refusal may lag. A refusal may be based on counters
// that another call has read, so the slowest call's duration is added.
func lenient(history []porcupine.Operation) []porcupine.Operation {
	slowest := int64(0)
	for _, o := range history {
		if o.Input.(call).act == stock.Try {
			slowest = max(slowest, o.Return-o.Call)
		}
	}
	for i := range history {
		if o := &history[i]; o.Input.(call).act == stock.Try && o.Output == stock.ErrInsufficientStock.Code {
			o.Call -= behind.Nanoseconds() + slowest
		}
	}
	return history
}
