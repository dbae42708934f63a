package stock_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"comanda/internal/event"
	"comanda/internal/fault"
	"comanda/internal/stock"
	"comanda/internal/stock/stocktest"
	"comanda/internal/testenv"
)

const (
	rice   = int64(11)
	eggs   = int64(12)
	branch = int64(7)
)

var (
	noon     = time.UnixMilli(1_772_000_000_000).UTC()
	names    = map[int64]string{rice: "rice", eggs: "eggs"}
	stockage = stock.StockScope(branch)
)

// reservation is the hold of another system's reservation.
func reservation(id string, until time.Time, lines ...stock.Line) stock.Hold {
	return stock.Hold{ID: stock.HoldID(id), Scope: stockage, Lines: lines, Until: until}
}

// batchWith returns a batch with 10 units of each item and the given holds, as if loaded from SQL.
func batchWith(holds ...stock.HoldState) *stock.CommandBatch {
	r := &stock.CommandBatch{Now: noon, Balances: stock.NewBalances(), Reasons: map[string]string{}, ConfirmedEarly: map[string]bool{}}
	counts := map[int64]stock.Count{rice: {Item: rice, Cap: 10}, eggs: {Item: eggs, Cap: 10}}
	for _, h := range holds {
		r.Balances.LoadHold(h.Hold, h.State)
		for _, l := range h.Hold.Lines {
			c := counts[l.Item]
			switch h.State {
			case stock.Held:
				c.Held += l.Qty
			case stock.Confirmed:
				c.Used += l.Qty
			}
			counts[l.Item] = c
		}
	}
	for item, c := range counts {
		r.Balances.LoadItem(stock.Item{ID: item, Branch: branch, SKU: names[item], LowAt: stock.NoAlarm}, c)
	}
	return r
}

// outcome is every effect of one command.
type outcome struct {
	Err        string // the code of the refusal
	Changed    bool
	State      stock.State
	Status     stock.Status // as its owner is notified; empty without a notification
	Held, Used int64        // change of the counter of rice
	Rows       string       // new holds, then steps
	Ops        string
	Events     string
	Noted      int
}

func code(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Code
	}
	return ""
}

// decide runs one command.
func decide(r *stock.CommandBatch, d stock.Command) outcome {
	before, _ := r.Balances.Count(stock.Key{Scope: stockage, Item: rice})
	res := r.Decide([]stock.Command{d})[0]
	after, _ := r.Balances.Count(stock.Key{Scope: stockage, Item: rice})
	state, _ := r.Balances.State(stock.HoldID(d.ID))
	o := outcome{
		Err: code(res.Err), Changed: res.Changed, State: state, Status: res.Reservation.Status,
		Held: after.Held - before.Held, Used: after.Used - before.Used, Noted: len(r.EarlyConfirms),
	}
	var rows, ops, events []string
	for _, n := range r.Created {
		rows = append(rows, strings.TrimSpace(fmt.Sprint(n.State, " ", n.Reason)))
	}
	for _, s := range r.Transitions {
		rows = append(rows, strings.TrimSpace(fmt.Sprint(s.From, ">", s.To, " ", s.Reason)))
	}
	for _, op := range r.Ops {
		ops = append(ops, string(op.Kind))
	}
	for _, e := range r.Events {
		events = append(events, e.Type)
	}
	o.Rows, o.Ops, o.Events = strings.Join(rows, ", "), strings.Join(ops, ", "), strings.Join(events, ", ")
	return o
}

// commands returns the commands on reservation r, which takes 3 units of rice.
func commands() map[string]stock.Command {
	own := reservation("r", noon.Add(time.Minute), stock.Line{Item: rice, Qty: 3})
	other, large := own, own
	other.Lines = []stock.Line{{Item: rice, Qty: 2}, {Item: eggs, Qty: 1}}
	large.Lines = []stock.Line{{Item: rice, Qty: 11}, {Item: eggs, Qty: 1}}
	short := []stock.SKUShortage{{ItemID: "rice", Requested: 3, Available: 1}}
	return map[string]stock.Command{
		"try":                  {Action: stock.Try, ID: "r", Hold: own},
		"try other":            {Action: stock.Try, ID: "r", Hold: other},
		"try too many":         {Action: stock.Try, ID: "r", Hold: large},
		"message too many":     {Action: stock.Try, ID: "r", Hold: large, Message: true},
		"try, refused before":  {Action: stock.Try, ID: "r", Hold: own, Short: short},
		"other, refused":       {Action: stock.Try, ID: "r", Hold: other, Short: short},
		"confirm":              {Action: stock.Confirm, ID: "r"},
		"confirm by message":   {Action: stock.Confirm, ID: "r", Message: true},
		"confirm by a strange": {Action: stock.Confirm, ID: "r", CanSee: func(b int64) bool { return b == branch+1 }},
		"cancel":               {Action: stock.Cancel, ID: "r"},
		"cancel by message":    {Action: stock.Cancel, ID: "r", Message: true},
		"cancel by a strange":  {Action: stock.Cancel, ID: "r", CanSee: func(b int64) bool { return b == branch+1 }},
		"expire":               {Action: stock.Expire, ID: "r"},
		"return":               {Action: stock.Return, ID: "r"},
	}
}

// same is the outcome of a command that changes nothing.
func same(s stock.State, status stock.Status) outcome { return outcome{State: s, Status: status} }

func refusedAs(s stock.State, status stock.Status, err *fault.Error) outcome {
	return outcome{State: s, Status: status, Err: err.Code}
}

// The whole state table: every command on a reservation in every state, with all effects.
func TestCommandBatch_state_table(t *testing.T) {
	type row = map[string]outcome
	strange := refusedAs("", "", stock.ErrReservationNotFound)
	barred := outcome{
		Err: "insufficient_stock", State: stock.Released, Status: stock.StatusRefused, Rows: "RELEASED REFUSED", Ops: "CANCEL",
	}
	notified := barred
	notified.Events = "inventory.refused"
	tombstone := outcome{Changed: true, State: stock.Released, Status: stock.StatusCancelled, Rows: "RELEASED CANCELED"}
	tombstoneTold := tombstone
	tombstoneTold.Events = "inventory.released"
	none := row{
		"try": {
			Changed: true, State: stock.Held, Status: stock.StatusReserved, Held: 3, Rows: "HELD", Ops: "HELD", Events: "inventory.reserved",
		},
		"try too many": barred, "message too many": notified, "try, refused before": barred,
		"confirm":            strange,
		"confirm by message": {Err: "reservation_not_found", Noted: 1},
		"cancel":             tombstone, "cancel by message": tombstoneTold,
		"confirm by a strange": strange, "cancel by a strange": strange,
		"expire": {}, "return": strange,
	}
	early := maps.Clone(none)
	early["try"] = outcome{
		Changed: true, State: stock.Confirmed, Status: stock.StatusConfirmed, Used: 3, Rows: "CONFIRMED", Ops: "CONFIRM",
		Events: "inventory.reserved, inventory.sold",
	}
	early["confirm by message"] = strange // it is known
	sells := outcome{
		State: stock.Confirmed, Status: stock.StatusConfirmed, Held: -3, Used: 3, Rows: "HELD>CONFIRMED", Ops: "CONFIRM", Events: "inventory.sold",
	}
	sold := sells
	sold.Changed = true
	gives := func(reason string, status stock.Status) outcome {
		return outcome{
			Changed: true, State: stock.Released, Status: status, Held: -3, Rows: "HELD>RELEASED " + reason, Ops: "CANCEL",
			Events: "inventory.released",
		}
	}
	hidden := func(s stock.State) outcome { return refusedAs(s, "", stock.ErrReservationNotFound) }
	ended := func(s stock.State, status stock.Status, again *fault.Error) row {
		r := row{
			"try": refusedAs(s, status, again), "try other": refusedAs(s, status, again),
			"try, refused before": refusedAs(s, status, again),
			"confirm":             refusedAs(s, status, stock.ErrReservationEnded), "confirm by message": refusedAs(s, status, stock.ErrReservationEnded),
			"cancel": same(s, status), "cancel by message": same(s, status), "cancel by a strange": hidden(s),
			"expire": same(s, ""), "return": refusedAs(s, status, stock.ErrReservationEnded),
		}
		return r
	}
	returned := ended(stock.Returned, stock.StatusReturned, stock.ErrReservationEnded)
	returned["cancel"] = refusedAs(stock.Returned, stock.StatusReturned, stock.ErrReservationEnded)
	returned["cancel by message"] = returned["cancel"]
	returned["return"] = same(stock.Returned, stock.StatusReturned)
	table := map[string]row{
		"nothing": none, "nothing, confirmed early": early,
		"held": {
			"try": same(stock.Held, stock.StatusReserved), "try other": refusedAs(stock.Held, stock.StatusReserved, stock.ErrIDReused),
			"try, refused before": same(stock.Held, stock.StatusReserved),
			"other, refused":      refusedAs(stock.Held, stock.StatusReserved, stock.ErrIDReused),
			"confirm":             sold, "confirm by message": sold, "confirm by a strange": hidden(stock.Held),
			"cancel":            gives("CANCELED", stock.StatusCancelled),
			"cancel by message": gives("CANCELED", stock.StatusCancelled), "cancel by a strange": hidden(stock.Held),
			"expire": same(stock.Held, ""), "return": refusedAs(stock.Held, stock.StatusReserved, stock.ErrNotConfirmed),
		},
		"held, overdue": {
			"expire": gives("EXPIRED", stock.StatusExpired), "confirm": sold, "cancel": gives("CANCELED", stock.StatusCancelled),
		},
		"held, confirmed early": {
			"try": sells, "confirm": sells, "expire": func() outcome { o := sells; o.Status = ""; return o }(),
			"cancel": func() outcome { o := sells; o.Err = stock.ErrAlreadyConfirmed.Code; return o }(),
		},
		"confirmed": {
			"try": same(stock.Confirmed, stock.StatusConfirmed), "try other": refusedAs(stock.Confirmed, stock.StatusConfirmed, stock.ErrIDReused),
			"try, refused before": same(stock.Confirmed, stock.StatusConfirmed),
			"confirm":             same(stock.Confirmed, stock.StatusConfirmed), "confirm by message": same(stock.Confirmed, stock.StatusConfirmed),
			"cancel": refusedAs(stock.Confirmed, stock.StatusConfirmed, stock.ErrAlreadyConfirmed), "cancel by a strange": hidden(stock.Confirmed),
			"expire": same(stock.Confirmed, ""),
			"return": {
				Changed: true, State: stock.Returned, Status: stock.StatusReturned, Used: -3, Rows: "CONFIRMED>RETURNED", Ops: "RETURN",
				Events: "inventory.returned",
			},
		},
		"canceled": ended(stock.Released, stock.StatusCancelled, stock.ErrReservationEnded),
		"expired":  ended(stock.Released, stock.StatusExpired, stock.ErrReservationEnded),
		"refused":  ended(stock.Released, stock.StatusRefused, stock.ErrInsufficientStock),
		"returned": returned,
	}
	for state, acts := range table {
		for act, want := range acts {
			t.Run(state+", "+act, func(t *testing.T) {
				testenv.Equal(t, want, decide(inState(state), commands()[act]))
			})
		}
	}
}

// inState loads reservation r in a state of the table, beside another one.
func inState(state string) *stock.CommandBatch {
	until := noon.Add(time.Minute)
	base, early := strings.CutSuffix(state, ", confirmed early")
	if base == "held, overdue" {
		until = noon // the deadline is the instant from which it may be expired
	}
	own := reservation("r", until, stock.Line{Item: rice, Qty: 3})
	states := map[string]stock.State{
		"held": stock.Held, "held, overdue": stock.Held, "confirmed": stock.Confirmed, "canceled": stock.Released,
		"expired": stock.Released, "refused": stock.Released, "returned": stock.Returned,
	}
	holds := []stock.HoldState{{Hold: reservation("s", until, stock.Line{Item: rice, Qty: 1}), State: stock.Held}}
	if s, ok := states[base]; ok {
		holds = append(holds, stock.HoldState{Hold: own, State: s})
	}
	r := batchWith(holds...)
	r.ConfirmedEarly[own.ID] = early
	if states[base] == stock.Released {
		r.Reasons[own.ID] = strings.ToUpper(base)
	}
	return r
}

// A reservation may expire at its deadline, and not before (I10).
func TestCommandBatch_expires_at_deadline(t *testing.T) {
	for until, want := range map[time.Time]stock.State{
		noon.Add(time.Millisecond): stock.Held, noon: stock.Released, noon.Add(-time.Hour): stock.Released,
	} {
		r := batchWith(stock.HoldState{Hold: reservation("r", until, stock.Line{Item: rice, Qty: 1}), State: stock.Held})
		r.Decide([]stock.Command{{Action: stock.Expire, ID: "r"}})
		if got, _ := r.Balances.State(stock.HoldID("r")); got != want {
			t.Errorf("%s before its deadline: %s", until.Sub(noon), got)
		}
	}
}

// A reservation lives for the requested time, counted from the decision, even if the clock is set meanwhile.
func TestCommandBatch_deadline_follows_the_clock(t *testing.T) {
	for _, step := range []time.Duration{0, time.Hour, -time.Hour} {
		requested, r := noon.Add(-step), batchWith()
		h := reservation("r", requested.Add(5*time.Minute), stock.Line{Item: rice, Qty: 1})
		res := r.Decide([]stock.Command{{Action: stock.Try, ID: "r", Hold: h, RequestedAt: requested}})[0]
		if want := noon.Add(5 * time.Minute); !res.Reservation.ExpiresAt.Equal(want) || !r.Created[0].Until.Equal(want) {
			t.Errorf("after a step of %v: %v and %v, want %v", step, res.Reservation.ExpiresAt, r.Created[0].Until, want)
		}
	}
}

// A reservation takes all of its items or none, and reports the available quantity of every item that is short.
func TestCommandBatch_all_or_nothing(t *testing.T) {
	r := batchWith(stock.HoldState{Hold: reservation("s", noon, stock.Line{Item: rice, Qty: 8}), State: stock.Confirmed})
	h := reservation("r", noon, stock.Line{Item: rice, Qty: 3}, stock.Line{Item: eggs, Qty: 11})
	res := r.Decide([]stock.Command{{Action: stock.Try, ID: "r", Hold: h, Message: true}})[0]
	testenv.ErrorIs(t, stock.ErrInsufficientStock, res.Err)
	refused, err := event.InventoryRefused.Decode(r.Events[0])
	want := []event.Shortage{{ItemID: "rice", Requested: 3, Available: 2}, {ItemID: "eggs", Requested: 11, Available: 10}}
	if diff := cmp.Diff(want, refused.Items); diff != "" || err != nil {
		t.Error(diff, err)
	}
	r.Balances.Deltas(func(k stock.Key, _ stock.Counter) { t.Errorf("%s was touched", names[k.Item]) })
}

// load returns what SQL would load for a batch.
func load(s *stocktest.Model) *stock.CommandBatch {
	r := &stock.CommandBatch{Now: s.Now, Balances: stock.NewBalances(), Reasons: maps.Clone(s.Reasons), ConfirmedEarly: maps.Clone(s.ConfirmedEarly)}
	counts := map[int64]stock.Count{}
	for item, limit := range s.Caps {
		counts[item] = stock.Count{Item: item, Cap: limit}
	}
	for _, h := range s.Holds {
		r.Balances.LoadHold(h.Hold, h.State)
		for _, l := range h.Hold.Lines {
			c := counts[l.Item]
			switch h.State {
			case stock.Held:
				c.Held += l.Qty
			case stock.Confirmed:
				c.Used += l.Qty
			}
			counts[l.Item] = c
		}
	}
	for item, c := range counts {
		r.Balances.LoadItem(stock.Item{ID: item, Branch: branch, SKU: names[item], LowAt: stock.NoAlarm}, c)
	}
	return r
}

// I1, I2, I4, I8, I12: random batches of commands. No units are lost or created, rows and events agree, and every
// result follows the rules.
func TestCommandBatch_model(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stocktest.NewModel(map[int64]int64{rice: 10, eggs: 6})
		s.Now = noon
		for range rapid.IntRange(1, 8).Draw(t, "batches") {
			s.Now = s.Now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "seconds")) * time.Second)
			for _, id := range slices.Sorted(maps.Keys(s.Holds)) { // a Confirm that was remembered while its Try was committed
				s.ConfirmedEarly[id] = s.ConfirmedEarly[id] || s.Holds[id].State == stock.Held && rapid.IntRange(0, 9).Draw(t, "early") == 0
			}
			r := load(s)
			batch := make([]stock.Command, rapid.IntRange(1, 12).Draw(t, "demands"))
			for i := range batch {
				batch[i] = draw(t, s.Now)
			}
			results := r.Decide(batch)
			for i, d := range batch {
				if want := s.Apply(d); code(results[i].Err) != want {
					t.Fatalf("act %d on %s: %q, want %q", d.Action, d.ID, code(results[i].Err), want)
				}
			}
			compare(t, s, r)
		}
	})
}

func draw(t *rapid.T, now time.Time) stock.Command {
	d := stock.Command{
		Action:  rapid.SampledFrom([]stock.Action{stock.Try, stock.Try, stock.Confirm, stock.Cancel, stock.Expire, stock.Return}).Draw(t, "act"),
		ID:      rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "id"),
		Message: rapid.Bool().Draw(t, "message"),
	}
	if d.Action == stock.Try {
		d.Hold = reservation(d.ID, now.Add(time.Second))
		if rapid.Bool().Draw(t, "both") {
			d.Hold.Lines = []stock.Line{{Item: rice, Qty: rapid.Int64Range(1, 4).Draw(t, "rice")}}
		}
		d.Hold.Lines = append(d.Hold.Lines, stock.Line{Item: eggs, Qty: rapid.Int64Range(1, 3).Draw(t, "eggs")})
	}
	return d
}

// compare checks the effects of a batch: counters, rows, operations for the cache, and events.
func compare(t *rapid.T, s *stocktest.Model, r *stock.CommandBatch) {
	for id, h := range s.Holds {
		if state, _ := r.Balances.State(id); state != h.State {
			t.Fatalf("%s is %s, want %s", id, state, h.State)
		}
	}
	for item := range s.Caps {
		if c, _ := r.Balances.Count(stock.Key{Scope: stockage, Item: item}); c.Left() != s.Left(item) || c.Held < 0 || c.Used < 0 {
			t.Fatalf("%s: %v, left should be %d", names[item], c, s.Left(item))
		}
	}
	last := map[string]stock.State{}
	for _, n := range r.Created {
		if _, twice := last[n.ID]; twice {
			t.Fatalf("%s begins twice", n.ID)
		}
		last[n.ID] = n.State
	}
	for _, step := range r.Transitions {
		if before, ok := last[step.ID]; ok && before != step.From {
			t.Fatalf("%s steps from %s, it was %s", step.ID, step.From, before)
		}
		last[step.ID] = step.To
	}
	for id, state := range last {
		if s.Holds[id].State != state {
			t.Fatalf("the rows leave %s %s, want %s", id, state, s.Holds[id].State)
		}
	}
	seen := map[string]bool{}
	for _, e := range r.Events {
		key := e.Type + " " + e.AggregateID
		if _, changed := last[stock.HoldID(e.AggregateID)]; !changed || seen[key] {
			t.Fatalf("%s: %d rows changed, published before: %t", key, len(last), seen[key])
		}
		seen[key] = true
	}
}
