package stock

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"comanda/internal/authz"
	"comanda/internal/cache"
	"comanda/internal/fault"
	"comanda/internal/seq"
)

// ReservationStore runs commands and finds reservations; stocksql.Reservations implements it. It is safe for concurrent
// use. Commands of concurrent callers share transactions.
type ReservationStore interface {
	// Do runs one command. Its result is durable unless the error is of kind Unavailable.
	Do(ctx context.Context, d Command) (CommandResult, error)
	// DoAll is Do for many commands. It returns one result and one error for each, in order.
	DoAll(ctx context.Context, ds []Command) ([]CommandResult, []error)
	// Find returns a reservation. The returned reservation has no id if it does not exist.
	Find(ctx context.Context, id string) (Reservation, error)
	// Overdue returns reservations past their deadline.
	Overdue(ctx context.Context, now time.Time, limit int) ([]string, error)
	// Items returns stock items by SKU. Missing ones are left out.
	Items(ctx context.Context, branch int64, skus []string) ([]Item, error)
}

// Admission is the admission cache: it reserves units ahead of SQL; Syncer implements it. It never fails: if it cannot
// decide, SQL does.
type Admission interface {
	// Reserve takes a provisional hold. Only the status Refused ends a request; after any other SQL decides.
	Reserve(ctx context.Context, h Hold) AdmissionResult
	// DropProvisional releases a provisional hold after SQL has refused it.
	DropProvisional(h Hold)
}

// ReservationRequest is a Try of another system.
type ReservationRequest struct {
	ID     string
	Branch int64
	Items  []SKULine
	TTL    time.Duration // 0 means DefaultTTL
}

// ReservationService serves other systems: Try, Confirm, Cancel, Return. It is safe for concurrent use and has no state
// but a cache of item numbers.
type ReservationService struct {
	Store     ReservationStore
	Admission Admission
	Now       func() time.Time

	itemIDs itemIDCache
}

// Reserve holds all requested items or none. A repeated id with the same items returns the same reservation: created
// reports whether this request created it. A refused id is stored as refused, so the same id is refused again when
// there is stock (decision 26). An error of kind Unavailable means that the outcome is unknown: the caller repeats the
// same request.
func (s *ReservationService) Reserve(
	ctx context.Context, actor authz.Actor, r ReservationRequest,
) (_ Reservation, created bool, err error) {
	if !actor.Sees(r.Branch) {
		// The response is then that for an item that does not exist, so it reveals nothing about other branches.
		r.Branch = 0 // a branch without items
	}
	d, err := s.TryCommand(ctx, r)
	if err != nil {
		return Reservation{}, false, err
	}
	admission := s.Admission.Reserve(ctx, d.Hold)
	// SQL is called after a refusal too: it records the refusal without reading or locking the stock.
	if admission.Status == Refused {
		d.Short = s.itemIDs.withSKUs(admission.Short, r)
	}
	res, err := s.Store.Do(ctx, d)
	if err == nil {
		err = res.Err
	}
	// SQL has refused, or has the id in another state, so the provisional hold will never become a hold.
	if admission.Status == Admitted && res.Reservation.Status != StatusReserved && fault.KindOf(err) != fault.Unavailable &&
		ctx.Err() == nil {
		s.Admission.DropProvisional(d.Hold) // if the outcome is unknown, ExpireProvisional releases the hold later
	}
	return res.Reservation, res.Changed, err
}

// TryCommand validates a request and resolves its SKUs to item numbers.
func (s *ReservationService) TryCommand(ctx context.Context, r ReservationRequest) (Command, error) {
	d := Command{Action: Try, ID: r.ID}
	if err := r.validate(); err != nil {
		return d, err
	}
	ids, err := s.itemIDs.find(ctx, s.Store, r)
	if err != nil {
		return d, err
	}
	// CommandBatch moves the deadline by the time between this instant and the decision, so waiting costs no part of the
	// TTL.
	d.RequestedAt = s.Now()
	d.Hold, err = r.Hold(ids, d.RequestedAt)
	return d, err
}

// validate returns a fault for a request that breaks a limit. It does no I/O. It is shared by HTTP and messages. HTTP
// checks most of it in its schema already.
func (r ReservationRequest) validate() error {
	if err := ValidateExternalID("orderId", r.ID); err != nil {
		return err
	}
	if r.TTL != 0 && (r.TTL < MinTTL || r.TTL > MaxTTL) {
		return fault.New(fault.Invalid, "invalid", "ttlSeconds must be between 1 and 86400.").With("field", "ttlSeconds")
	}
	if len(r.Items) == 0 || len(r.Items) > MaxLines {
		return ErrInvalidLines
	}
	for _, it := range r.Items {
		if err := ValidateExternalID("itemId", it.SKU); err != nil {
			return err
		}
		if it.Qty < 1 || it.Qty > MaxQty {
			return fault.Newf(fault.Invalid, "invalid", "The quantity must be between 1 and %d.", MaxQty).With("field", "quantity")
		}
	}
	return nil
}

// Hold returns the hold of the request. ids are item numbers by SKU.
func (r ReservationRequest) Hold(ids map[string]int64, now time.Time) (Hold, error) {
	lines := make([]Line, len(r.Items))
	for i, it := range r.Items {
		id, ok := ids[it.SKU]
		if !ok {
			return Hold{}, ErrItemNotFound.With("itemId", it.SKU)
		}
		lines[i] = Line{id, it.Qty}
	}
	merged, err := MergeLines(lines)
	until := now.Add(cmp.Or(r.TTL, DefaultTTL))
	return Hold{ID: HoldID(r.ID), Scope: StockScope(r.Branch), Lines: merged, Until: until}, err
}

// Confirm turns a reservation into a sale. Repeated calls of Confirm, Cancel and Return are not errors.
func (s *ReservationService) Confirm(ctx context.Context, actor authz.Actor, id string) (Reservation, error) {
	return s.settle(ctx, actor, Command{Action: Confirm, ID: id})
}

// Cancel releases a reservation. If it arrives before the Try, the Try is refused.
func (s *ReservationService) Cancel(ctx context.Context, actor authz.Actor, id string) (Reservation, error) {
	return s.settle(ctx, actor, Command{Action: Cancel, ID: id})
}

// Return puts the units of a confirmed reservation back into stock.
func (s *ReservationService) Return(ctx context.Context, actor authz.Actor, id string) (Reservation, error) {
	return s.settle(ctx, actor, Command{Action: Return, ID: id})
}

func (s *ReservationService) settle(ctx context.Context, actor authz.Actor, d Command) (Reservation, error) {
	if err := ValidateExternalID("orderId", d.ID); err != nil {
		return Reservation{}, err
	}
	d.CanSee = actor.Sees
	r, err := s.Store.Do(ctx, d)
	if err == nil {
		err = r.Err
	}
	return r.Reservation, err
}

// Find returns a reservation. A reservation that was cancelled before its Try has no branch; only callers with access
// to all branches see it.
func (s *ReservationService) Find(ctx context.Context, actor authz.Actor, id string) (Reservation, error) {
	if err := ValidateExternalID("orderId", id); err != nil {
		return Reservation{}, err
	}
	r, err := s.Store.Find(ctx, id)
	if err == nil && (r.ID == "" || !actor.Sees(r.Branch)) {
		err = ErrReservationNotFound
	}
	return r, err
}

// expireBatch bounds the reservations that one transaction expires. It is below the largest batch of the group commit,
// so one page mostly is one transaction.
const expireBatch = 500

// ExpireOverdue releases reservations past their deadline. Any number of processes may run it at the same time: SQL
// compares each deadline again under the lock of the hold, so a reservation ends once and never early (I10). A full
// page is followed by another one, as after a night without a process.
func (s *ReservationService) ExpireOverdue(ctx context.Context) error {
	for {
		ids, err := s.Store.Overdue(ctx, s.Now(), expireBatch)
		if err != nil || len(ids) == 0 {
			return err
		}
		commands := seq.Map(ids, func(id string) Command { return Command{Action: Expire, ID: id} })
		_, failures := s.Store.DoAll(ctx, commands)
		if err := errors.Join(failures...); err != nil || len(ids) < expireBatch {
			return err
		}
	}
}

// itemIDCache caches the numbers of stock items, which never change. Misses are not cached: the item may be created. It
// is bounded, so an item may be forgotten and read again.
type itemIDCache struct {
	ids cache.Cache[itemKey, int64]
}

type itemKey struct {
	branch int64
	sku    string
}

// find returns the numbers of the requested items by SKU. Items that do not exist are missing in the result, and Hold
// refuses them. The zero time suits entries without an expiry.
func (t *itemIDCache) find(ctx context.Context, from ReservationStore, r ReservationRequest) (map[string]int64, error) {
	ids := make(map[string]int64, len(r.Items))
	var missing []string
	for _, it := range r.Items {
		if id, ok := t.ids.Get(itemKey{r.Branch, it.SKU}, time.Time{}); ok {
			ids[it.SKU] = id
		} else {
			missing = append(missing, it.SKU)
		}
	}
	if missing == nil {
		return ids, nil
	}
	found, err := from.Items(ctx, r.Branch, missing)
	for _, f := range found {
		ids[f.SKU] = f.ID
		t.ids.Put(itemKey{f.Branch, f.SKU}, f.ID)
	}
	return ids, err
}

// withSKUs converts shortages from the admission cache, which has item numbers only, to the SKUs of a request. find has
// just cached all SKUs of the request. A line whose entry was dropped meanwhile is left out of the answer.
func (t *itemIDCache) withSKUs(short []Shortage, r ReservationRequest) []SKUShortage {
	lines := make([]SKUShortage, 0, len(short))
	for _, s := range short {
		i := slices.IndexFunc(r.Items, func(it SKULine) bool {
			id, ok := t.ids.Get(itemKey{r.Branch, it.SKU}, time.Time{})
			return ok && id == s.Item
		})
		if i >= 0 {
			lines = append(lines, SKUShortage{r.Items[i].SKU, s.Requested, s.Available})
		}
	}
	return lines
}
