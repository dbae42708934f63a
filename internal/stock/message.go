package stock

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"comanda/internal/event"
	"comanda/internal/fault"
)

// MessageCommand is a command that arrived as a message of another system. A command with Err is answered and not
// executed.
type MessageCommand struct {
	Command
	Request ReservationRequest // request of a Try; ResolveItems makes its hold
	Err     error              // refusal that can be decided without reading the stock; nil otherwise
}

// ParseMessage reads a message. It returns an error only if the message names no reservation, so that no answer is
// possible. Any other defect is answered and stored in MessageCommand.Err. It does no I/O. A message without an answer
// becomes a dead letter, because repeating it cannot help.
func ParseMessage(e event.Event) (MessageCommand, error) {
	h := MessageCommand{Command: Command{Message: true}}
	switch e.Type {
	case event.ExternalOrderCreated.Name:
		h.Action = Try
	case event.ExternalOrderConfirmed.Name:
		h.Action = Confirm
	case event.ExternalOrderCancelRequested.Name:
		h.Action = Cancel
	default:
		return h, fmt.Errorf("stock: unexpected message type %s", e.Type)
	}
	d, err := parseHeader(e)
	if err == nil {
		err = ValidateExternalID("orderId", d.OrderID)
	}
	h.ID = d.OrderID
	if err != nil || h.Action != Try {
		return h, err
	}
	w, err := event.ExternalOrderCreated.Decode(e)
	if err != nil {
		h.Err = fault.New(fault.Invalid, "invalid", "The message has a field of the wrong type.").Because(err)
		return h, nil
	}
	h.Request = requestOf(w)
	h.Hold.Scope.Branch = h.Request.Branch
	h.Err = h.Request.validate()
	if h.Request.Branch < 0 {
		h.Err = errAmbiguousBranch
	}
	return h, nil
}

// errAmbiguousBranch refuses a message without a branch where the items fit more than one.
var errAmbiguousBranch = fault.New(fault.Invalid, "invalid",
	"branchId must be the id of a branch. It may be omitted if only one branch has the items.").With("field", "branchId")

// parseHeader reads the fields that all messages have.
func parseHeader(e event.Event) (event.ReservationRef, error) {
	var d event.ReservationRef
	if err := json.Unmarshal(e.Payload, &d); err != nil {
		return d, fmt.Errorf("stock: body of %s %s: %w", e.Type, e.ID, err)
	}
	return d, nil
}

// maxMessageTTL is above the allowed maximum, so that validation still refuses the value, and cannot overflow a
// time.Duration.
const maxMessageTTL = int64(2 * MaxTTL / time.Second)

func requestOf(w event.StockRequest) ReservationRequest {
	r := ReservationRequest{
		ID: w.OrderID, Branch: int64(w.BranchID), TTL: time.Duration(max(-1, min(w.TTLSeconds, maxMessageTTL))) * time.Second,
	}
	for _, a := range w.Amounts() {
		r.Items = append(r.Items, SKULine{a.ItemID, a.Quantity})
	}
	return r
}

// ResolveItems sets the hold of a Try. ids are item numbers by branch and SKU; the caller reads those of a whole batch
// with one statement, so ResolveItems does no I/O. If a message names no branch, the only branch that has all its
// items is used.
func (c *MessageCommand) ResolveItems(ids map[int64]map[string]int64, now time.Time) {
	if c.Action != Try || c.Err != nil {
		return
	}
	if c.Request.Branch == 0 {
		if c.Request.Branch, c.Err = onlyBranch(ids, c.Request.Items); c.Err != nil {
			return
		}
	}
	hold, err := c.Request.Hold(ids[c.Request.Branch], now)
	if err != nil {
		c.Err = err
		return
	}
	c.Hold = hold
}

// onlyBranch returns the only branch that has all items. A choice between two branches is refused instead of guessed:
// the units would be taken from the wrong one.
func onlyBranch(ids map[int64]map[string]int64, items []SKULine) (only int64, err error) {
	for branch, known := range ids {
		if slices.ContainsFunc(items, func(it SKULine) bool { return known[it.SKU] == 0 }) {
			continue
		}
		if only != 0 {
			return 0, errAmbiguousBranch
		}
		only = branch
	}
	if only == 0 {
		return 0, ErrItemNotFound
	}
	return only, nil
}

// Refusal returns the event for a command that was refused without reading the stock.
func (c *MessageCommand) Refusal(now time.Time) event.Event {
	return refusal(now, c.Command, 0, codeOf(c.Err), nil)
}

// Refusals returns events for refused commands that CommandBatch has not answered. A repeated refusal and a Confirm
// that arrives before its Try are not answered. Short stock is answered by CommandBatch, which has the lines.
func Refusals(now time.Time, commands []Command, results []CommandResult) []event.Event {
	var events []event.Event
	for i, r := range results {
		if r.Err == nil || errors.Is(r.Err, ErrInsufficientStock) || errors.Is(r.Err, ErrReservationNotFound) {
			continue
		}
		d := commands[i]
		if d.Action != Try {
			d.Hold.Scope.Branch = r.Reservation.Branch
		}
		events = append(events, refusal(now, d, 0, codeOf(r.Err), nil))
	}
	return events
}

func codeOf(err error) string {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return fault.Internal.String()
	}
	return f.PublicCode()
}

// actionEvents are the message types that request an action.
var actionEvents = map[Action]string{
	Try:     event.ExternalOrderCreated.Name,
	Confirm: event.ExternalOrderConfirmed.Name,
	Cancel:  event.ExternalOrderCancelRequested.Name,
}

// refusal returns the event that refuses a command from a message. seq is 0 if the command changed nothing.
func refusal(now time.Time, d Command, seq int64, reason string, short []event.Shortage) event.Event {
	if short == nil {
		short = []event.Shortage{}
	}
	branch := d.Hold.Scope.Branch
	return event.InventoryRefused.New(now, d.ID, seq, branch, event.Refused{
		OrderID: d.ID, BranchID: branch, Demand: actionEvents[d.Action], Items: short, Reason: reason,
	})
}
