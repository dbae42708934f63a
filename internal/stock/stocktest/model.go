// Package stocktest is a second, simple implementation of the rules of package stock, in maps and without regard to speed, as
// the reference for tests of the implementations in SQL and Redis.
package stocktest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"comanda/internal/stock"
)

// Model is a branch's stock and all reservations ever made of it. It sums up holds whenever a number is needed and
// stores no counters, so it cannot repeat mistakes of code that does. It is not safe for concurrent use.
type Model struct {
	Caps           map[int64]int64            // all units of each item: available, held and sold
	Holds          map[string]stock.HoldState // by hold id
	Reasons        map[string]string          // reasons of ended holds
	ConfirmedEarly map[string]bool            // ids whose Confirm arrived before the Try
	Now            time.Time
}

// NewModel returns a model with the units of each item and no reservations.
func NewModel(caps map[int64]int64) *Model {
	return &Model{
		Caps: caps, Holds: map[string]stock.HoldState{}, Reasons: map[string]string{}, ConfirmedEarly: map[string]bool{},
	}
}

// Left returns the units of an item that no hold has taken.
func (s *Model) Left(item int64) int64 {
	return s.Caps[item] - s.Sum(stock.Held, item) - s.Sum(stock.Confirmed, item)
}

// Sum returns the units of an item in holds of a state.
func (s *Model) Sum(state stock.State, item int64) (n int64) {
	for _, h := range s.Holds {
		for _, l := range h.Hold.Lines {
			if l.Item == item && h.State == state {
				n += l.Qty
			}
		}
	}
	return n
}

// Counts returns all counters in the order of items.
func (s *Model) Counts() []stock.Count {
	var all []stock.Count
	for _, item := range slices.Sorted(maps.Keys(s.Caps)) {
		all = append(all, stock.Count{
			Item: item, Cap: s.Caps[item], Held: s.Sum(stock.Held, item), Used: s.Sum(stock.Confirmed, item),
		})
	}
	return all
}

// Apply executes a command and returns the code of the expected refusal, empty for none. The model has no admission
// cache: a refusal means that the items do not fit.
func (s *Model) Apply(d stock.Command) string {
	id := stock.HoldID(d.ID)
	h, known := s.Holds[id]
	if s.ConfirmedEarly[id] && h.State == stock.Held {
		h = s.step(id, h, stock.Confirmed, "")
	}
	switch {
	case d.Action == stock.Try && known:
		return s.repeatedTry(d, h)
	case d.Action == stock.Try:
		return s.try(d)
	case d.Action == stock.Cancel && !known:
		s.step(id, stock.HoldState{Hold: stock.Hold{ID: id}}, stock.Released, stock.ReasonCanceled)
	case d.Action == stock.Expire:
		if h.State == stock.Held && !s.Now.Before(h.Hold.Until) {
			s.step(id, h, stock.Released, stock.ReasonExpired)
		}
	case !known:
		s.ConfirmedEarly[id] = s.ConfirmedEarly[id] || d.Action == stock.Confirm && d.Message
		return stock.ErrReservationNotFound.Code
	case d.Action == stock.Confirm && h.State == stock.Held:
		s.step(id, h, stock.Confirmed, "")
	case d.Action == stock.Cancel && h.State == stock.Held:
		s.step(id, h, stock.Released, stock.ReasonCanceled)
	case d.Action == stock.Return && h.State == stock.Confirmed:
		s.step(id, h, stock.Returned, "")
	default:
		return refusals[d.Action][h.State]
	}
	return ""
}

// refusals are the codes for commands in the wrong state. A missing entry is a repetition, which is not refused.
var refusals = map[stock.Action]map[stock.State]string{
	stock.Confirm: {stock.Released: stock.ErrReservationEnded.Code, stock.Returned: stock.ErrReservationEnded.Code},
	stock.Cancel:  {stock.Confirmed: stock.ErrAlreadyConfirmed.Code, stock.Returned: stock.ErrReservationEnded.Code},
	stock.Return:  {stock.Held: stock.ErrNotConfirmed.Code, stock.Released: stock.ErrReservationEnded.Code},
}

func (s *Model) step(id string, h stock.HoldState, to stock.State, reason string) stock.HoldState {
	h.State = to
	s.Holds[id] = h
	s.Reasons[id] = cmp.Or(reason, s.Reasons[id])
	return h
}

// try holds all items of a new id or none.
func (s *Model) try(d stock.Command) string {
	h, to := stock.HoldState{Hold: d.Hold}, stock.Held
	if s.ConfirmedEarly[d.Hold.ID] {
		to = stock.Confirmed
	}
	for _, l := range d.Hold.Lines {
		if s.Left(l.Item) < l.Qty {
			h.Hold.Lines = nil
			s.step(d.Hold.ID, h, stock.Released, stock.ReasonRefused)
			return stock.ErrInsufficientStock.Code
		}
	}
	s.step(d.Hold.ID, h, to, "")
	return ""
}

// repeatedTry returns the code for a Try whose id is known.
func (s *Model) repeatedTry(d stock.Command, h stock.HoldState) string {
	live := h.State == stock.Held || h.State == stock.Confirmed
	switch {
	case live && slices.Equal(h.Hold.Lines, d.Hold.Lines):
		return ""
	case live:
		return stock.ErrIDReused.Code
	case s.Reasons[d.Hold.ID] == stock.ReasonRefused:
		return stock.ErrInsufficientStock.Code
	}
	return stock.ErrReservationEnded.Code
}
