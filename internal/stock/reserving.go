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
type Reserving struct {
	Now  time.Time
	Book *Book

	// What was loaded.
	Reasons map[string]string // of holds that have ended, by hold
	Early   map[string]bool   // holds that were confirmed before they came

	// What was decided.
	New    []Begun
	Steps  []Step
	Noted  []string // holds that are now confirmed before they have come
	Ops    []Op
	Events []event.Event
}

// Begun is a hold that was not there before, in the state in which it begins.
type Begun struct {
	Hold   Hold
	State  State
	Reason string
}

// Step is a hold's step from one state to another.
type Step struct {
	ID       string
	Was, Now State
	Reason   string
}

// Decide gives a result for every demand.
func (r *Reserving) Decide(demands []Demand) []Result {
	results := make([]Result, len(demands))
	for i, d := range demands {
		if r.hidden(d) {
			results[i].Err = ErrNone
			continue
		}
		r.catchUp(d.ID)
		switch d.Act {
		case Try:
			results[i] = r.try(d)
		case Confirm:
			results[i] = r.confirm(d)
		case Cancel:
			results[i] = r.cancel(d)
		case Expire:
			results[i] = r.expire(d)
		case Return:
			results[i] = r.giveBack(d)
		}
	}
	return results
}

// hidden tells whether a demand is about what its caller does not see. A Try names its branch, and says nothing of what
// its id was used for elsewhere.
func (r *Reserving) hidden(d Demand) bool {
	if d.Act == Try || d.Sees == nil {
		return false
	}
	h, _ := r.Book.Holding(HoldOf(d.ID))
	return !d.Sees(h.Scope.Branch)
}

// catchUp confirms what was confirmed in the moment in which it came.
func (r *Reserving) catchUp(id string) {
	if state, _ := r.Book.State(HoldOf(id)); state == Held && r.Early[HoldOf(id)] {
		r.confirm(Demand{ID: id})
	}
}

func (r *Reserving) try(d Demand) Result {
	as, op := Held, OpHeld
	if r.Early[d.Hold.ID] {
		as, op = Confirmed, OpConfirm
	}
	if d.Short != nil {
		return r.refused(d)
	}
	outcome, short := r.Book.Take(d.Hold, as)
	switch outcome {
	case Changed:
	case NoRoom:
		return r.refuse(d, r.short(short))
	case Opposite:
		return r.repeated(d)
	case Unknown:
		return Result{Err: ErrItem}
	default:
		return Result{Reservation: r.shown(d.ID)}
	}
	r.New = append(r.New, Begun{Hold: d.Hold, State: as})
	r.tell(op, d.Hold)
	shown := r.shown(d.ID)
	r.publish(event.InventoryReserved.New(r.Now, d.ID, 1, shown.Branch, event.Reserved{
		OrderID: d.ID, BranchID: shown.Branch, Items: amounts(shown.Lines), ExpiresAt: d.Hold.Until,
	}))
	if as == Confirmed {
		r.sold(shown)
	}
	return Result{Reservation: shown, Changed: true}
}

// refused enters what the gate has refused, unless the id is known: then it is answered as if nobody had refused it.
func (r *Reserving) refused(d Demand) Result {
	h, ok := r.Book.Holding(d.Hold.ID)
	switch state, _ := r.Book.State(d.Hold.ID); {
	case !ok:
		return r.refuse(d, d.Short)
	case (state == Held || state == Confirmed) && h.Digest() == d.Hold.Digest():
		return Result{Reservation: r.shown(d.ID)}
	}
	return r.repeated(d)
}

// refuse enters an id that does not fit as one that has ended: a refused id stays refused (I12).
func (r *Reserving) refuse(d Demand, lines []ShortLine) Result {
	r.bar(d, ReasonRefused)
	r.tell(OpCancel, d.Hold)
	if d.Message {
		short := make([]event.Short, len(lines))
		for i, l := range lines {
			short[i] = event.Short(l)
		}
		r.publish(refusal(r.Now, d, 1, ErrShort.Code, short))
	}
	return Result{Reservation: r.shown(d.ID), Err: ErrShort.With("lines", lines)}
}

// repeated answers a Try whose id is known with other content, or has ended.
func (r *Reserving) repeated(d Demand) Result {
	state, _ := r.Book.State(d.Hold.ID)
	res := Result{Reservation: r.shown(d.ID)}
	switch {
	case state == Held || state == Confirmed:
		res.Err = ErrOther
	case r.Reasons[d.Hold.ID] == ReasonRefused && d.Short != nil:
		res.Err = ErrShort.With("lines", d.Short)
	case r.Reasons[d.Hold.ID] == ReasonRefused:
		res.Err = ErrShort.With("lines", r.wanted(d.Hold))
	default:
		res.Err = ErrTerminal
	}
	return res
}

func (r *Reserving) confirm(d Demand) Result {
	id := HoldOf(d.ID)
	switch r.Book.Confirm(id) {
	case Changed:
	case Same:
		return Result{Reservation: r.shown(d.ID)}
	case Unknown:
		if d.Message && !r.Early[id] {
			r.Early[id] = true
			r.Noted = append(r.Noted, id)
		}
		return Result{Err: ErrNone}
	default:
		return Result{Reservation: r.shown(d.ID), Err: ErrTerminal}
	}
	r.step(id, Held, Confirmed, "", OpConfirm)
	shown := r.shown(d.ID)
	r.sold(shown)
	return Result{Reservation: shown, Changed: true}
}

func (r *Reserving) sold(res Reservation) {
	r.publish(event.InventorySold.New(r.Now, res.ID, 2, res.Branch, event.Sold{
		OrderID: res.ID, BranchID: res.Branch, Items: amounts(res.Lines),
	}))
}

func (r *Reserving) cancel(d Demand) Result {
	switch r.Book.Release(HoldOf(d.ID)) {
	case Changed:
		return r.released(d.ID, ReasonCanceled)
	case Unknown:
		r.bar(d, ReasonCanceled)
		if d.Message {
			r.ended(event.InventoryReleased, r.shown(d.ID), 1, ReasonCanceled)
		}
		return Result{Reservation: r.shown(d.ID), Changed: true}
	case Same:
		return Result{Reservation: r.shown(d.ID)}
	}
	if state, _ := r.Book.State(HoldOf(d.ID)); state == Returned {
		return Result{Reservation: r.shown(d.ID), Err: ErrTerminal}
	}
	return Result{Reservation: r.shown(d.ID), Err: ErrConfirmed}
}

// expire releases what is over. One whose deadline has not come, or which ended otherwise, is left as it is (I10).
func (r *Reserving) expire(d Demand) Result {
	h, ok := r.Book.Holding(HoldOf(d.ID))
	if !ok || r.Now.Before(h.Until) || r.Book.Release(h.ID) != Changed {
		return Result{}
	}
	return r.released(d.ID, ReasonExpired)
}

func (r *Reserving) released(id, reason string) Result {
	r.Reasons[HoldOf(id)] = reason
	r.step(HoldOf(id), Held, Released, reason, OpCancel)
	shown := r.shown(id)
	r.ended(event.InventoryReleased, shown, 2, reason)
	return Result{Reservation: shown, Changed: true}
}

func (r *Reserving) giveBack(d Demand) Result {
	id := HoldOf(d.ID)
	switch r.Book.Return(id) {
	case Changed:
	case Same:
		return Result{Reservation: r.shown(d.ID)}
	case Unknown:
		return Result{Err: ErrNone}
	default:
		if state, _ := r.Book.State(id); state == Held {
			return Result{Reservation: r.shown(d.ID), Err: ErrNotSold}
		}
		return Result{Reservation: r.shown(d.ID), Err: ErrTerminal}
	}
	r.step(id, Confirmed, Returned, "", OpReturn)
	shown := r.shown(d.ID)
	r.ended(event.InventoryReturned, shown, 3, string(Returned))
	return Result{Reservation: shown, Changed: true}
}

// bar enters an id that never holds anything.
func (r *Reserving) bar(d Demand, reason string) {
	h := Hold{ID: HoldOf(d.ID), Scope: d.Hold.Scope, Until: r.Now}
	if r.Book.Bar(h) == Changed {
		r.Reasons[h.ID] = reason
		r.New = append(r.New, Begun{h, Released, reason})
	}
}

func (r *Reserving) step(id string, was, now State, reason string, op OpKind) {
	r.Steps = append(r.Steps, Step{id, was, now, reason})
	h, _ := r.Book.Holding(id)
	r.tell(op, h)
}

func (r *Reserving) tell(kind OpKind, h Hold) { r.Ops = append(r.Ops, Op{Kind: kind, Hold: h}) }

func (r *Reserving) publish(e event.Event) { r.Events = append(r.Events, e) }

func (r *Reserving) ended(kind event.Kind[event.Released], res Reservation, seq int64, reason string) {
	r.publish(kind.New(r.Now, res.ID, seq, res.Branch, event.Released{
		OrderID: res.ID, BranchID: res.Branch, Items: amounts(res.Lines), Reason: reason,
	}))
}

func amounts(lines []Taken) []event.Amount {
	all := make([]event.Amount, len(lines))
	for i, l := range lines {
		all[i] = event.Amount{ItemID: l.SKU, Quantity: l.Qty}
	}
	return all
}

// short names what does not fit as its owner does.
func (r *Reserving) short(short []Shortage) []ShortLine {
	lines := make([]ShortLine, len(short))
	for i, s := range short {
		lines[i] = ShortLine{s.SKU, s.Requested, s.Available}
	}
	return lines
}

// wanted tells what is available now of what a refused id asks for.
func (r *Reserving) wanted(h Hold) []ShortLine {
	lines := make([]ShortLine, 0, len(h.Lines))
	for key, qty := range h.Takes {
		if c, ok := r.Book.counters[key]; ok {
			lines = append(lines, ShortLine{c.thing.SKU, qty, c.Left()})
		}
	}
	return lines
}

// shown is a reservation as the book has it now.
func (r *Reserving) shown(id string) Reservation {
	h, _ := r.Book.Holding(HoldOf(id))
	state, _ := r.Book.State(h.ID)
	res := Reservation{ID: id, Branch: h.Scope.Branch, Status: StatusOf(state, r.Reasons[h.ID]), ExpiresAt: h.Until}
	for key, qty := range h.Takes {
		if c, ok := r.Book.counters[key]; ok {
			res.Lines = append(res.Lines, Taken{c.thing.SKU, qty})
		}
	}
	return res
}

// StatusOf is how a hold's state is told to its owner.
func StatusOf(state State, reason string) Status {
	switch {
	case state == Held:
		return Reserved
	case state == Confirmed:
		return Sold
	case state == Returned:
		return GivenBack
	case reason == ReasonExpired:
		return Expired
	case reason == ReasonRefused:
		return RefusedForGood
	}
	return Cancelled
}
