package stock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"comanda/internal/fault"
	"comanda/internal/identity"
)

// Desk is the ledger of the stock, normally stocksql.Reservations.
type ReservationStore interface {
	// Do runs one demand; it is durable when Do returns without an error of kind Unavailable.
	Do(ctx context.Context, d Command) (CommandResult, error)
	DoAll(ctx context.Context, ds []Command) ([]CommandResult, []error)
	// Find gives a reservation; one without an id is not there.
	Find(ctx context.Context, id string) (Reservation, error)
	// Overdue gives reservations whose deadline has come.
	Overdue(ctx context.Context, now time.Time, limit int) ([]string, error)
	// Things finds stock items by what their owner calls them.
	Items(ctx context.Context, branch int64, skus []string) ([]Item, error)
}

// Door is the gate in front of the ledger, normally the Gatekeeper.
type Admission interface {
	Reserve(ctx context.Context, h Hold) AdmissionResult
	DropProvisional(h Hold)
}

// Request is what another system wants to reserve.
type ReservationRequest struct {
	ID     string
	Branch int64
	Items  []SKULine
	TTL    time.Duration // 0 means DefaultTTL
}

// Inventory is the use cases of other systems: Try, Confirm, Cancel, Return.
type ReservationService struct {
	Store     ReservationStore
	Admission Admission
	Now       func() time.Time

	itemIDs itemIDCache
}

// Reserve holds everything that is asked for, or nothing. The same id with the same items gives the same reservation:
// created tells whether this request has made it.
func (s *ReservationService) Reserve(ctx context.Context, who identity.Actor, r ReservationRequest) (_ Reservation, created bool, err error) {
	if !who.Sees(r.Branch) {
		r.Branch = 0 // where there is no item
	}
	d, err := s.TryCommand(ctx, r)
	if err != nil {
		return Reservation{}, false, err
	}
	admission := s.Admission.Reserve(ctx, d.Hold)
	if admission.Status == Refused {
		d.Short = s.itemIDs.withSKUs(admission.Short, r)
	}
	res, err := s.Store.Do(ctx, d)
	if err == nil {
		err = res.Err
	}
	if admission.Status == Admitted && res.Reservation.Status != StatusReserved && fault.KindOf(err) != fault.Unavailable &&
		ctx.Err() == nil {
		s.Admission.DropProvisional(d.Hold) // an unknown end is the reaper's
	}
	return res.Reservation, res.Changed, err
}

// Demand checks a request and finds what it asks for.
func (s *ReservationService) TryCommand(ctx context.Context, r ReservationRequest) (Command, error) {
	d := Command{Action: Try, ID: r.ID}
	if err := r.validate(); err != nil {
		return d, err
	}
	ids, err := s.itemIDs.find(ctx, s.Store, r)
	if err != nil {
		return d, err
	}
	d.RequestedAt = s.Now()
	d.Hold, err = r.Hold(ids, d.RequestedAt)
	return d, err
}

// check looks at the request alone.
func (r ReservationRequest) validate() error {
	if err := ValidateExternalID("orderId", r.ID); err != nil {
		return err
	}
	if r.TTL != 0 && (r.TTL < MinTTL || r.TTL > MaxTTL) {
		return fault.New(fault.Invalid, "invalid", "ttlSeconds is 1 to 86400.").With("field", "ttlSeconds")
	}
	if len(r.Items) == 0 || len(r.Items) > MaxLines {
		return ErrInvalidLines
	}
	for _, it := range r.Items {
		if err := ValidateExternalID("itemId", it.SKU); err != nil {
			return err
		}
		if it.Qty < 1 || it.Qty > MaxQty {
			return fault.Newf(fault.Invalid, "invalid", "A quantity is 1 to %d.", MaxQty).With("field", "quantity")
		}
	}
	return nil
}

// Hold is what the request takes, where ids are the numbers of its items by their names.
func (r ReservationRequest) Hold(ids map[string]int64, now time.Time) (Hold, error) {
	lines := make([]Line, len(r.Items))
	for i, it := range r.Items {
		id, ok := ids[it.SKU]
		if !ok {
			return Hold{}, ErrItemNotFound.With("itemId", it.SKU)
		}
		lines[i] = Line{id, it.Qty}
	}
	ttl := r.TTL
	if ttl == 0 {
		ttl = DefaultTTL
	}
	merged, err := MergeLines(lines)
	return Hold{ID: HoldID(r.ID), Scope: StockScope(r.Branch), Lines: merged, Until: now.Add(ttl)}, err
}

// Confirm sells what a reservation holds.
func (s *ReservationService) Confirm(ctx context.Context, who identity.Actor, id string) (Reservation, error) {
	return s.settle(ctx, who, Command{Action: Confirm, ID: id})
}

// Cancel gives back what a reservation holds. Before its Try it has that refused.
func (s *ReservationService) Cancel(ctx context.Context, who identity.Actor, id string) (Reservation, error) {
	return s.settle(ctx, who, Command{Action: Cancel, ID: id})
}

// Return puts what a reservation has sold back.
func (s *ReservationService) Return(ctx context.Context, who identity.Actor, id string) (Reservation, error) {
	return s.settle(ctx, who, Command{Action: Return, ID: id})
}

func (s *ReservationService) settle(ctx context.Context, who identity.Actor, d Command) (Reservation, error) {
	if err := ValidateExternalID("orderId", d.ID); err != nil {
		return Reservation{}, err
	}
	d.CanSee = who.Sees
	r, err := s.Store.Do(ctx, d)
	if err == nil {
		err = r.Err
	}
	return r.Reservation, err
}

// Find gives a reservation. One that was cancelled before it came is of no branch, and is shown to who sees all.
func (s *ReservationService) Find(ctx context.Context, who identity.Actor, id string) (Reservation, error) {
	if err := ValidateExternalID("orderId", id); err != nil {
		return Reservation{}, err
	}
	r, err := s.Store.Find(ctx, id)
	if err == nil && (r.ID == "" || !who.Sees(r.Branch)) {
		err = ErrReservationNotFound
	}
	return r, err
}

// expireBatch bounds the reservations that one round ends.
const expireBatch = 500

// ExpireOverdue releases reservations whose deadline has come.
func (s *ReservationService) ExpireOverdue(ctx context.Context) error {
	for {
		ids, err := s.Store.Overdue(ctx, s.Now(), expireBatch)
		if err != nil || len(ids) == 0 {
			return err
		}
		commands := make([]Command, len(ids))
		for i, id := range ids {
			commands[i] = Command{Action: Expire, ID: id}
		}
		_, failures := s.Store.DoAll(ctx, commands)
		if err := errors.Join(failures...); err != nil || len(ids) < expireBatch {
			return err
		}
	}
}

// things remembers the numbers of stock items, which never change. An item that is not found is asked for again.
type itemIDCache struct {
	mu  sync.RWMutex
	ids map[itemKey]int64
}

type itemKey struct {
	branch int64
	sku    string
}

// maxThings bounds the memory; beyond it everything is forgotten and learnt anew.
const maxCachedItemIDs = 200_000

func (t *itemIDCache) find(ctx context.Context, from ReservationStore, r ReservationRequest) (map[string]int64, error) {
	ids := make(map[string]int64, len(r.Items))
	var missing []string
	t.mu.RLock()
	for _, it := range r.Items {
		if id, ok := t.ids[itemKey{r.Branch, it.SKU}]; ok {
			ids[it.SKU] = id
		} else {
			missing = append(missing, it.SKU)
		}
	}
	t.mu.RUnlock()
	if missing == nil {
		return ids, nil
	}
	found, err := from.Items(ctx, r.Branch, missing)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ids == nil || len(t.ids) > maxCachedItemIDs {
		t.ids = map[itemKey]int64{}
	}
	for _, f := range found {
		ids[f.SKU] = f.ID
		t.ids[itemKey{f.Branch, f.SKU}] = f.ID
	}
	return ids, nil
}

// named calls what the gate has refused of a request as its owner does.
func (t *itemIDCache) withSKUs(short []Shortage, r ReservationRequest) []SKUShortage {
	t.mu.RLock()
	defer t.mu.RUnlock()
	lines := make([]SKUShortage, 0, len(short))
	for _, s := range short {
		i := slices.IndexFunc(r.Items, func(it SKULine) bool { return t.ids[itemKey{r.Branch, it.SKU}] == s.Item })
		if i >= 0 {
			lines = append(lines, SKUShortage{r.Items[i].SKU, s.Requested, s.Available})
		}
	}
	return lines
}
