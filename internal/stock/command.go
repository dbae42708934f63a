package stock

import (
	"time"

	"comanda/internal/event"
)

// Reserving decides demands in their order of arrival against what is loaded into its book, and gathers what follows. It
// does no I/O.
//
// The table of states, by what the ledger knows:
//
//	nothing    Try: HELD, or RELEASED as refused; Confirm: not found (*); Cancel: RELEASED; Return: not found
//	HELD       Try: same; Confirm: CONFIRMED; Cancel, and Expire from the deadline on: RELEASED; Return: refused
//	CONFIRMED  Try, Confirm: same; Cancel: refused; Return: RETURNED
//	RELEASED   Cancel: same; Try, Confirm, Return: refused
//	RETURNED   Return: same; Try, Confirm, Cancel: refused
//
// (*) as a message it is remembered, and the Try that it has overtaken is confirmed at once. Where the two were committed
// in the same moment, neither has seen the other: such a hold is confirmed before anything else is done to it.
type CommandBatch struct {
	Now      time.Time
	Balances *Balances

	// What was loaded.
	Reasons        map[string]string // of holds that have ended, by hold
	ConfirmedEarly map[string]bool   // holds that were confirmed before they came

	// What was decided.
	Created       []NewHold
	Transitions   []Transition
	EarlyConfirms []string // holds that are now confirmed before they have come
	Ops           []Op
	Events        []event.Event
}

// Begun is a hold that was not there before, in the state in which it begins.
type NewHold struct {
	Hold

	State  State
	Reason string // of one that has ended before it began
}

// Step is a hold's step from one state to another.
type Transition struct {
	ID       string
	From, To State
	Reason   string
}

// Decide gives a result for every demand.
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

// hidden tells whether a demand is about what its caller does not see. A Try names its branch, and says nothing of what
// its id was used for elsewhere.
func (r *CommandBatch) invisible(d Command) bool {
	if d.Action == Try || d.CanSee == nil {
		return false
	}
	h, _ := r.Balances.Hold(HoldID(d.ID))
	return !d.CanSee(h.Scope.Branch)
}

// catchUp confirms what was confirmed in the moment in which it came.
func (r *CommandBatch) applyEarlyConfirm(id string) {
	if state, _ := r.Balances.State(HoldID(id)); state == Held && r.ConfirmedEarly[HoldID(id)] {
		r.confirm(Command{ID: id})
	}
}

func (r *CommandBatch) try(d Command) CommandResult {
	as, op := Held, OpHeld
	if r.ConfirmedEarly[d.Hold.ID] {
		as, op = Confirmed, OpConfirm
	}
	if d.Short != nil {
		return r.enterRefusal(d)
	}
	if !d.RequestedAt.IsZero() { // it lives from the decision on: the clock may have been set since the request
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

// refused enters what the gate has refused, unless the id is known: then it is answered as if nobody had refused it.
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

// refuse enters an id that does not fit as one that has ended: a refused id stays refused (I12).
func (r *CommandBatch) refuse(d Command, lines []SKUShortage) CommandResult {
	r.tombstone(d, ReasonRefused)
	r.queueOp(OpCancel, d.Hold)
	if d.Message {
		short := make([]event.Short, len(lines))
		for i, l := range lines {
			short[i] = event.Short(l)
		}
		r.publish(refusal(r.Now, d, 1, ErrInsufficientStock.Code, short))
	}
	return CommandResult{Reservation: r.reservation(d.ID), Err: ErrInsufficientStock.With("lines", lines)}
}

// repeated answers a Try whose id is known with other content, or has ended.
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

func (r *CommandBatch) publishSold(res Reservation) {
	r.publish(event.InventorySold.New(r.Now, res.ID, 2, res.Branch, event.Sold{
		OrderID: res.ID, BranchID: res.Branch, Items: amounts(res.Lines),
	}))
}

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

// expire releases what is over. One whose deadline has not come, or which ended otherwise, is left as it is (I10).
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

// bar enters an id that never holds anything.
func (r *CommandBatch) tombstone(d Command, reason string) {
	h := Hold{ID: HoldID(d.ID), Scope: d.Hold.Scope, Until: r.Now}
	if r.Balances.Tombstone(h) == Applied {
		r.Reasons[h.ID] = reason
		r.Created = append(r.Created, NewHold{h, Released, reason})
	}
}

func (r *CommandBatch) transition(id string, was, now State, reason string, op OpKind) {
	r.Transitions = append(r.Transitions, Transition{id, was, now, reason})
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

func amounts(lines []SKULine) []event.Amount {
	all := make([]event.Amount, len(lines))
	for i, l := range lines {
		all[i] = event.Amount{ItemID: l.SKU, Quantity: l.Qty}
	}
	return all
}

// short names what does not fit as its owner does.
func (r *CommandBatch) skuShortages(skuShortages []Shortage) []SKUShortage {
	lines := make([]SKUShortage, len(skuShortages))
	for i, s := range skuShortages {
		lines[i] = SKUShortage{s.SKU, s.Requested, s.Available}
	}
	return lines
}

// wanted tells what is available now of what a refused id asks for.
func (r *CommandBatch) availability(h Hold) []SKUShortage {
	lines := make([]SKUShortage, 0, len(h.Lines))
	for key, qty := range h.Quantities {
		if c, ok := r.Balances.counters[key]; ok {
			lines = append(lines, SKUShortage{c.item.SKU, qty, c.Left()})
		}
	}
	return lines
}

// shown is a reservation as the book has it now.
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

// StatusOf is how a hold's state is told to its owner.
func StatusOf(state State, reason string) Status {
	switch {
	case state == Held:
		return StatusReserved
	case state == Confirmed:
		return StatusConfirmed
	case state == Returned:
		return StatusReturned
	case reason == ReasonExpired:
		return StatusExpired
	case reason == ReasonRefused:
		return StatusRefused
	}
	return StatusCancelled
}
