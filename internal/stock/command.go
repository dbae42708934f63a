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
func (b *CommandBatch) Decide(commands []Command) []CommandResult {
	results := make([]CommandResult, len(commands))
	for i, d := range commands {
		if b.invisible(d) {
			results[i].Err = ErrReservationNotFound
			continue
		}
		b.applyEarlyConfirm(d.ID)
		switch d.Action {
		case Try:
			results[i] = b.try(d)
		case Confirm:
			results[i] = b.confirm(d)
		case Cancel:
			results[i] = b.cancel(d)
		case Expire:
			results[i] = b.expire(d)
		case Return:
			results[i] = b.returnSold(d)
		}
	}
	return results
}

// invisible reports whether a command concerns a reservation that its caller may not see. A Try states its branch,
// and its answer reveals nothing about other branches.
func (b *CommandBatch) invisible(d Command) bool {
	if d.Action == Try || d.CanSee == nil {
		return false
	}
	h, _ := b.Balances.Hold(HoldID(d.ID))
	return !d.CanSee(h.Scope.Branch)
}

// applyEarlyConfirm confirms a hold whose Try and Confirm committed at the same moment.
func (b *CommandBatch) applyEarlyConfirm(id string) {
	if state, _ := b.Balances.State(HoldID(id)); state == Held && b.ConfirmedEarly[HoldID(id)] {
		b.confirm(Command{ID: id})
	}
}

// try holds the units of a new id. Order matters: a refusal by the cache comes first, because the counters of such a
// command were not loaded.
func (b *CommandBatch) try(d Command) CommandResult {
	as, op := Held, OpHeld
	if b.ConfirmedEarly[d.Hold.ID] {
		as, op = Confirmed, OpConfirm
	}
	if d.Short != nil {
		return b.enterRefusal(d)
	}
	if !d.RequestedAt.IsZero() { // the TTL starts at the decision: the clock may have been set since the request
		d.Hold.Until = d.Hold.Until.Add(b.Now.Sub(d.RequestedAt))
	}
	outcome, short := b.Balances.Reserve(d.Hold, as)
	switch outcome {
	case Applied:
	case Insufficient:
		return b.refuse(d, b.skuShortages(short))
	case Conflict:
		return b.answerKnown(d)
	case NotFound:
		return CommandResult{Err: ErrItemNotFound}
	default:
		return CommandResult{Reservation: b.reservation(d.ID)}
	}
	b.Created = append(b.Created, NewHold{Hold: d.Hold, State: as})
	b.queueOp(op, d.Hold)
	shown := b.reservation(d.ID)
	b.publish(event.InventoryReserved.New(b.Now, d.ID, 1, shown.Branch, event.Reserved{
		OrderID: d.ID, BranchID: shown.Branch, Items: amounts(shown.Lines), ExpiresAt: d.Hold.Until,
	}))
	if as == Confirmed {
		b.publishSold(shown)
	}
	return CommandResult{Reservation: shown, Changed: true}
}

// enterRefusal records a refusal by the admission cache. If the id is known, it returns the result of its state in
// SQL.
func (b *CommandBatch) enterRefusal(d Command) CommandResult {
	h, ok := b.Balances.Hold(d.Hold.ID)
	switch state, _ := b.Balances.State(d.Hold.ID); {
	case !ok:
		return b.refuse(d, d.Short)
	case (state == Held || state == Confirmed) && h.Digest() == d.Hold.Digest():
		return CommandResult{Reservation: b.reservation(d.ID)}
	}
	return b.answerKnown(d)
}

// refuse records an id that does not fit as released: a refused id stays refused (I12). Its operation also leaves a
// tombstone in the cache. Only refusals of messages are published as events; an HTTP caller receives the response.
func (b *CommandBatch) refuse(d Command, lines []SKUShortage) CommandResult {
	b.tombstone(d, ReasonRefused)
	b.queueOp(OpCancel, d.Hold)
	if d.Message {
		short := seq.Map(lines, func(l SKUShortage) event.Shortage { return event.Shortage(l) })
		b.publish(refusal(b.Now, d, 1, ErrInsufficientStock.Code, short))
	}
	return CommandResult{Reservation: b.reservation(d.ID), Err: ErrInsufficientStock.With("lines", lines)}
}

// answerKnown answers a Try whose id has other lines or has ended. For a refused id it returns the current
// shortages, because those of the first refusal are not stored.
func (b *CommandBatch) answerKnown(d Command) CommandResult {
	state, _ := b.Balances.State(d.Hold.ID)
	res := CommandResult{Reservation: b.reservation(d.ID)}
	switch {
	case state == Held || state == Confirmed:
		res.Err = ErrIDReused
	case b.Reasons[d.Hold.ID] == ReasonRefused && d.Short != nil:
		res.Err = ErrInsufficientStock.With("lines", d.Short)
	case b.Reasons[d.Hold.ID] == ReasonRefused:
		res.Err = ErrInsufficientStock.With("lines", b.availability(d.Hold))
	default:
		res.Err = ErrReservationEnded
	}
	return res
}

// confirm turns a reservation into a sale. It does not compare the deadline: the units are reserved until Expire
// releases the hold, so a late confirmation can succeed.
func (b *CommandBatch) confirm(d Command) CommandResult {
	id := HoldID(d.ID)
	switch b.Balances.Confirm(id) {
	case Applied:
	case AlreadyApplied:
		return CommandResult{Reservation: b.reservation(d.ID)}
	case NotFound:
		if d.Message && !b.ConfirmedEarly[id] {
			b.ConfirmedEarly[id] = true
			b.EarlyConfirms = append(b.EarlyConfirms, id)
		}
		return CommandResult{Err: ErrReservationNotFound}
	default:
		return CommandResult{Reservation: b.reservation(d.ID), Err: ErrReservationEnded}
	}
	b.transition(id, Held, Confirmed, "", OpConfirm)
	shown := b.reservation(d.ID)
	b.publishSold(shown)
	return CommandResult{Reservation: shown, Changed: true}
}

// publishSold adds the event of a sale. Sequence numbers order the events of one reservation: 1 for its creation, 2
// for the end of its hold, 3 for the reversal of the sale.
func (b *CommandBatch) publishSold(res Reservation) {
	b.publish(event.InventorySold.New(b.Now, res.ID, 2, res.Branch, event.Sold{
		OrderID: res.ID, BranchID: res.Branch, Items: amounts(res.Lines),
	}))
}

// cancel releases a reservation. An unknown id is not refused but stored as ended: its Try may arrive later from
// another queue (decision 26).
func (b *CommandBatch) cancel(d Command) CommandResult {
	switch b.Balances.Release(HoldID(d.ID)) {
	case Applied:
		return b.recordRelease(d.ID, ReasonCanceled)
	case NotFound:
		b.tombstone(d, ReasonCanceled)
		if d.Message {
			b.publishEnd(event.InventoryReleased, b.reservation(d.ID), 1, ReasonCanceled)
		}
		return CommandResult{Reservation: b.reservation(d.ID), Changed: true}
	case AlreadyApplied:
		return CommandResult{Reservation: b.reservation(d.ID)}
	}
	if state, _ := b.Balances.State(HoldID(d.ID)); state == Returned {
		return CommandResult{Reservation: b.reservation(d.ID), Err: ErrReservationEnded}
	}
	return CommandResult{Reservation: b.reservation(d.ID), Err: ErrAlreadyConfirmed}
}

// expire releases a hold past its deadline. A hold that is not due, or has ended, does not change (I10).
func (b *CommandBatch) expire(d Command) CommandResult {
	h, ok := b.Balances.Hold(HoldID(d.ID))
	if !ok || b.Now.Before(h.Until) || b.Balances.Release(h.ID) != Applied {
		return CommandResult{}
	}
	return b.recordRelease(d.ID, ReasonExpired)
}

func (b *CommandBatch) recordRelease(id, reason string) CommandResult {
	b.Reasons[HoldID(id)] = reason
	b.transition(HoldID(id), Held, Released, reason, OpCancel)
	shown := b.reservation(id)
	b.publishEnd(event.InventoryReleased, shown, 2, reason)
	return CommandResult{Reservation: shown, Changed: true}
}

// returnSold returns sold units. A repeated command has the result of the first one, because senders retry.
func (b *CommandBatch) returnSold(d Command) CommandResult {
	id := HoldID(d.ID)
	switch b.Balances.Return(id) {
	case Applied:
	case AlreadyApplied:
		return CommandResult{Reservation: b.reservation(d.ID)}
	case NotFound:
		return CommandResult{Err: ErrReservationNotFound}
	default:
		if state, _ := b.Balances.State(id); state == Held {
			return CommandResult{Reservation: b.reservation(d.ID), Err: ErrNotConfirmed}
		}
		return CommandResult{Reservation: b.reservation(d.ID), Err: ErrReservationEnded}
	}
	b.transition(id, Confirmed, Returned, "", OpReturn)
	shown := b.reservation(d.ID)
	b.publishEnd(event.InventoryReturned, shown, 3, string(Returned))
	return CommandResult{Reservation: shown, Changed: true}
}

// tombstone records an id that never holds anything. It has no lines and no counter, so no stock has to be locked.
func (b *CommandBatch) tombstone(d Command, reason string) {
	h := Hold{ID: HoldID(d.ID), Scope: d.Hold.Scope, Until: b.Now}
	if b.Balances.Tombstone(h) == Applied {
		b.Reasons[h.ID] = reason
		b.Created = append(b.Created, NewHold{h, Released, reason})
	}
}

// transition records a change of state and the resulting operation for the cache. The operation carries the lines of
// the stored hold, never those of a command.
func (b *CommandBatch) transition(id string, from, to State, reason string, op OpKind) {
	b.Transitions = append(b.Transitions, Transition{id, from, to, reason})
	h, _ := b.Balances.Hold(id)
	b.queueOp(op, h)
}

func (b *CommandBatch) queueOp(kind OpKind, h Hold) { b.Ops = append(b.Ops, Op{Kind: kind, Hold: h}) }

func (b *CommandBatch) publish(e event.Event) { b.Events = append(b.Events, e) }

func (b *CommandBatch) publishEnd(kind event.Kind[event.Released], res Reservation, seq int64, reason string) {
	b.publish(kind.New(b.Now, res.ID, seq, res.Branch, event.Released{
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
func (b *CommandBatch) skuShortages(short []Shortage) []SKUShortage {
	return seq.Map(short, func(s Shortage) SKUShortage { return SKUShortage{s.SKU, s.Requested, s.Available} })
}

// availability returns the shortages of a refused id by the current counters.
func (b *CommandBatch) availability(h Hold) []SKUShortage {
	lines := make([]SKUShortage, 0, len(h.Lines))
	for key, qty := range h.Quantities {
		if c, ok := b.Balances.counters[key]; ok {
			lines = append(lines, SKUShortage{c.item.SKU, qty, c.Left()})
		}
	}
	return lines
}

// reservation returns a reservation with the changes of this batch.
func (b *CommandBatch) reservation(id string) Reservation {
	h, _ := b.Balances.Hold(HoldID(id))
	state, _ := b.Balances.State(h.ID)
	res := Reservation{ID: id, Branch: h.Scope.Branch, Status: StatusOf(state, b.Reasons[h.ID]), ExpiresAt: h.Until}
	for key, qty := range h.Quantities {
		if c, ok := b.Balances.counters[key]; ok {
			res.Lines = append(res.Lines, SKULine{c.item.SKU, qty})
		}
	}
	return res
}
