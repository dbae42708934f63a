package stock

import (
	"time"

	"comanda/internal/event"
	"comanda/internal/seq"
)

// CommandBatch decides commands in order of arrival against its balances and collects the resulting writes. It does
// no I/O.
//
// The state table, by the state in SQL:
//
//	nothing    Try: HELD, or RELEASED if refused; Confirm: not found (*); Cancel: RELEASED; Return: not found
//	HELD       Try: same; Confirm: CONFIRMED; Cancel, and Expire from the deadline on: RELEASED; Return: refused
//	CONFIRMED  Try, Confirm: same; Cancel: refused; Return: RETURNED
//	RELEASED   Cancel: same; Try, Confirm, Return: refused
//	RETURNED   Return: same; Try, Confirm, Cancel: refused
//
// (*) A Confirm that came as a message is remembered, and its Try is confirmed as soon as it arrives. If both commit at
// the same moment, neither has seen the other: such a hold is confirmed before any other command on it.
//
// Commands see the effects of earlier ones in the same batch, as if each had its own transaction. A refused command
// changes nothing and does not fail the batch. A batch is used once, by one goroutine.
type CommandBatch struct {
	Now      time.Time
	Balances *Balances

	// Loaded by the caller.
	Reasons        map[string]string // reasons of ended holds, by hold id
	ConfirmedEarly map[string]bool   // ids of holds whose Confirm arrived before the Try

	// Results to write.
	Created       []NewHold
	Transitions   []Transition
	EarlyConfirms []string // ids to remember as confirmed before their Try
	Ops           []Op
	Events        []event.Event
}

// NewHold is a hold to be inserted in its first state.
type NewHold struct {
	Hold

	State  State
	Reason string // why the hold ended, if it ended before it was created
}

// Transition is a change of a hold's state. From is the state that was read under the lock; writing the transition
// fails if the row has another state by then.
type Transition struct {
	ID       string
	From, To State
	Reason   string
}

// Decide returns a result for every command. Results have the order of the commands.
func (r *CommandBatch) Decide(commands []Command) []CommandResult {
	results := make([]CommandResult, len(commands))
	for i, d := range commands {
		if r.invisible(d) {
			results[i].Err = ErrReservationNotFound
			continue
		}
		r.applyEarlyConfirm(d.ID)
		switch d.Action {
		case Try:
			results[i] = r.try(d)
		case Confirm:
			results[i] = r.confirm(d)
		case Cancel:
			results[i] = r.cancel(d)
		case Expire:
			results[i] = r.expire(d)
		case Return:
			results[i] = r.returnSold(d)
		}
	}
	return results
}

// invisible reports whether a command concerns a reservation that its caller may not see. A Try states its branch,
// and its answer reveals nothing about other branches.
func (r *CommandBatch) invisible(d Command) bool {
	if d.Action == Try || d.CanSee == nil {
		return false
	}
	h, _ := r.Balances.Hold(HoldID(d.ID))
	return !d.CanSee(h.Scope.Branch)
}

// applyEarlyConfirm confirms a hold whose Try and Confirm committed at the same moment.
func (r *CommandBatch) applyEarlyConfirm(id string) {
	if state, _ := r.Balances.State(HoldID(id)); state == Held && r.ConfirmedEarly[HoldID(id)] {
		r.confirm(Command{ID: id})
	}
}

// try holds the units of a new id. Order matters: a refusal by the cache comes first, because the counters of such a
// command were not loaded.
func (r *CommandBatch) try(d Command) CommandResult {
	as, op := Held, OpHeld
	if r.ConfirmedEarly[d.Hold.ID] {
		as, op = Confirmed, OpConfirm
	}
	if d.Short != nil {
		return r.enterRefusal(d)
	}
	if !d.RequestedAt.IsZero() { // the TTL starts at the decision: the clock may have been set since the request
		d.Hold.Until = d.Hold.Until.Add(r.Now.Sub(d.RequestedAt))
	}
	outcome, short := r.Balances.Reserve(d.Hold, as)
	switch outcome {
	case Applied:
	case Insufficient:
		return r.refuse(d, r.skuShortages(short))
	case Conflict:
		return r.answerKnown(d)
	case NotFound:
		return CommandResult{Err: ErrItemNotFound}
	default:
		return CommandResult{Reservation: r.reservation(d.ID)}
	}
	r.Created = append(r.Created, NewHold{Hold: d.Hold, State: as})
	r.queueOp(op, d.Hold)
	shown := r.reservation(d.ID)
	r.publish(event.InventoryReserved.New(r.Now, d.ID, 1, shown.Branch, event.Reserved{
		OrderID: d.ID, BranchID: shown.Branch, Items: amounts(shown.Lines), ExpiresAt: d.Hold.Until,
	}))
	if as == Confirmed {
		r.publishSold(shown)
	}
	return CommandResult{Reservation: shown, Changed: true}
}

// enterRefusal records a refusal by the admission cache. If the id is known, it returns the result of its state in
// SQL.
func (r *CommandBatch) enterRefusal(d Command) CommandResult {
	h, ok := r.Balances.Hold(d.Hold.ID)
	switch state, _ := r.Balances.State(d.Hold.ID); {
	case !ok:
		return r.refuse(d, d.Short)
	case (state == Held || state == Confirmed) && h.Digest() == d.Hold.Digest():
		return CommandResult{Reservation: r.reservation(d.ID)}
	}
	return r.answerKnown(d)
}

// refuse records an id that does not fit as released: a refused id stays refused (I12). Its operation also leaves a
// tombstone in the cache. Only refusals of messages are published as events; an HTTP caller receives the response.
func (r *CommandBatch) refuse(d Command, lines []SKUShortage) CommandResult {
	r.tombstone(d, ReasonRefused)
	r.queueOp(OpCancel, d.Hold)
	if d.Message {
		short := seq.Map(lines, func(l SKUShortage) event.Shortage { return event.Shortage(l) })
		r.publish(refusal(r.Now, d, 1, ErrInsufficientStock.Code, short))
	}
	return CommandResult{Reservation: r.reservation(d.ID), Err: ErrInsufficientStock.With("lines", lines)}
}

// answerKnown answers a Try whose id has other lines or has ended. For a refused id it returns the current
// shortages, because those of the first refusal are not stored.
func (r *CommandBatch) answerKnown(d Command) CommandResult {
	state, _ := r.Balances.State(d.Hold.ID)
	res := CommandResult{Reservation: r.reservation(d.ID)}
	switch {
	case state == Held || state == Confirmed:
		res.Err = ErrIDReused
	case r.Reasons[d.Hold.ID] == ReasonRefused && d.Short != nil:
		res.Err = ErrInsufficientStock.With("lines", d.Short)
	case r.Reasons[d.Hold.ID] == ReasonRefused:
		res.Err = ErrInsufficientStock.With("lines", r.availability(d.Hold))
	default:
		res.Err = ErrReservationEnded
	}
	return res
}

// confirm turns a reservation into a sale. It does not compare the deadline: the units are reserved until Expire
// releases the hold, so a late confirmation can succeed.
func (r *CommandBatch) confirm(d Command) CommandResult {
	id := HoldID(d.ID)
	switch r.Balances.Confirm(id) {
	case Applied:
	case AlreadyApplied:
		return CommandResult{Reservation: r.reservation(d.ID)}
	case NotFound:
		if d.Message && !r.ConfirmedEarly[id] {
			r.ConfirmedEarly[id] = true
			r.EarlyConfirms = append(r.EarlyConfirms, id)
		}
		return CommandResult{Err: ErrReservationNotFound}
	default:
		return CommandResult{Reservation: r.reservation(d.ID), Err: ErrReservationEnded}
	}
	r.transition(id, Held, Confirmed, "", OpConfirm)
	shown := r.reservation(d.ID)
	r.publishSold(shown)
	return CommandResult{Reservation: shown, Changed: true}
}

// publishSold adds the event of a sale. Sequence numbers order the events of one reservation: 1 for its creation, 2
// for the end of its hold, 3 for the reversal of the sale.
func (r *CommandBatch) publishSold(res Reservation) {
	r.publish(event.InventorySold.New(r.Now, res.ID, 2, res.Branch, event.Sold{
		OrderID: res.ID, BranchID: res.Branch, Items: amounts(res.Lines),
	}))
}

// cancel releases a reservation. An unknown id is not refused but stored as ended: its Try may arrive later from
// another queue (decision 26).
func (r *CommandBatch) cancel(d Command) CommandResult {
	switch r.Balances.Release(HoldID(d.ID)) {
	case Applied:
		return r.recordRelease(d.ID, ReasonCanceled)
	case NotFound:
		r.tombstone(d, ReasonCanceled)
		if d.Message {
			r.publishEnd(event.InventoryReleased, r.reservation(d.ID), 1, ReasonCanceled)
		}
		return CommandResult{Reservation: r.reservation(d.ID), Changed: true}
	case AlreadyApplied:
		return CommandResult{Reservation: r.reservation(d.ID)}
	}
	if state, _ := r.Balances.State(HoldID(d.ID)); state == Returned {
		return CommandResult{Reservation: r.reservation(d.ID), Err: ErrReservationEnded}
	}
	return CommandResult{Reservation: r.reservation(d.ID), Err: ErrAlreadyConfirmed}
}

// expire releases a hold past its deadline. A hold that is not due, or has ended, does not change (I10).
func (r *CommandBatch) expire(d Command) CommandResult {
	h, ok := r.Balances.Hold(HoldID(d.ID))
	if !ok || r.Now.Before(h.Until) || r.Balances.Release(h.ID) != Applied {
		return CommandResult{}
	}
	return r.recordRelease(d.ID, ReasonExpired)
}

func (r *CommandBatch) recordRelease(id, reason string) CommandResult {
	r.Reasons[HoldID(id)] = reason
	r.transition(HoldID(id), Held, Released, reason, OpCancel)
	shown := r.reservation(id)
	r.publishEnd(event.InventoryReleased, shown, 2, reason)
	return CommandResult{Reservation: shown, Changed: true}
}

// returnSold returns sold units. A repeated command has the result of the first one, because senders retry.
func (r *CommandBatch) returnSold(d Command) CommandResult {
	id := HoldID(d.ID)
	switch r.Balances.Return(id) {
	case Applied:
	case AlreadyApplied:
		return CommandResult{Reservation: r.reservation(d.ID)}
	case NotFound:
		return CommandResult{Err: ErrReservationNotFound}
	default:
		if state, _ := r.Balances.State(id); state == Held {
			return CommandResult{Reservation: r.reservation(d.ID), Err: ErrNotConfirmed}
		}
		return CommandResult{Reservation: r.reservation(d.ID), Err: ErrReservationEnded}
	}
	r.transition(id, Confirmed, Returned, "", OpReturn)
	shown := r.reservation(d.ID)
	r.publishEnd(event.InventoryReturned, shown, 3, string(Returned))
	return CommandResult{Reservation: shown, Changed: true}
}

// tombstone records an id that never holds anything. It has no lines and no counter, so no stock has to be locked.
func (r *CommandBatch) tombstone(d Command, reason string) {
	h := Hold{ID: HoldID(d.ID), Scope: d.Hold.Scope, Until: r.Now}
	if r.Balances.Tombstone(h) == Applied {
		r.Reasons[h.ID] = reason
		r.Created = append(r.Created, NewHold{h, Released, reason})
	}
}

// transition records a change of state and the resulting operation for the cache. The operation carries the lines of
// the stored hold, never those of a command.
func (r *CommandBatch) transition(id string, from, to State, reason string, op OpKind) {
	r.Transitions = append(r.Transitions, Transition{id, from, to, reason})
	h, _ := r.Balances.Hold(id)
	r.queueOp(op, h)
}

func (r *CommandBatch) queueOp(kind OpKind, h Hold) { r.Ops = append(r.Ops, Op{Kind: kind, Hold: h}) }

func (r *CommandBatch) publish(e event.Event) { r.Events = append(r.Events, e) }

func (r *CommandBatch) publishEnd(kind event.Kind[event.Released], res Reservation, seq int64, reason string) {
	r.publish(kind.New(r.Now, res.ID, seq, res.Branch, event.Released{
		OrderID: res.ID, BranchID: res.Branch, Items: amounts(res.Lines), Reason: reason,
	}))
}

func amounts(lines []SKULine) []event.ItemQuantity {
	all := make([]event.ItemQuantity, len(lines))
	for i, l := range lines {
		all[i] = event.ItemQuantity{ItemID: l.SKU, Quantity: l.Qty}
	}
	return all
}

// skuShortages converts shortages to the SKUs that the owner uses.
func (r *CommandBatch) skuShortages(short []Shortage) []SKUShortage {
	return seq.Map(short, func(s Shortage) SKUShortage { return SKUShortage{s.SKU, s.Requested, s.Available} })
}

// availability returns the shortages of a refused id by the current counters.
func (r *CommandBatch) availability(h Hold) []SKUShortage {
	lines := make([]SKUShortage, 0, len(h.Lines))
	for key, qty := range h.Quantities {
		if c, ok := r.Balances.counters[key]; ok {
			lines = append(lines, SKUShortage{c.item.SKU, qty, c.Left()})
		}
	}
	return lines
}

// reservation returns a reservation with the changes of this batch.
func (r *CommandBatch) reservation(id string) Reservation {
	h, _ := r.Balances.Hold(HoldID(id))
	state, _ := r.Balances.State(h.ID)
	res := Reservation{ID: id, Branch: h.Scope.Branch, Status: StatusOf(state, r.Reasons[h.ID]), ExpiresAt: h.Until}
	for key, qty := range h.Quantities {
		if c, ok := r.Balances.counters[key]; ok {
			res.Lines = append(res.Lines, SKULine{c.item.SKU, qty})
		}
	}
	return res
}
