package orderingsql

import (
	"context"
	"errors"
	"strconv"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/ordering"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
)

// VoucherCounters counts the uses of vouchers; stocksql.Reservations implements it. Both methods are part of the caller's
// transaction.
type VoucherCounters interface {
	// AddVoucher creates a counter with a number of uses and returns its number.
	AddVoucher(ctx context.Context, tx sqldb.Tx, by authz.Actor, branch, uses int64) (int64, error)
	// SetVoucherUses changes the number of uses in all. It returns stock.ErrInsufficientStock if more are taken.
	SetVoucherUses(ctx context.Context, tx sqldb.Tx, by authz.Actor, branch, item, uses int64) error
}

// Vouchers stores vouchers. It implements ordering.VoucherStore.
type Vouchers struct {
	db       *sqldb.DB
	counters VoucherCounters
	now      func() time.Time
}

// NewVouchers returns a store of db.
func NewVouchers(db *sqldb.DB, counters VoucherCounters, now func() time.Time) *Vouchers {
	return &Vouchers{db, counters, now}
}

var scanVoucher = sqldb.Row(func(v *ordering.Voucher) []any {
	return []any{
		&v.ID, &v.Branch, &v.Hint, &v.Discount, sqldb.Bool(&v.OncePerMember), &v.MaxUses, &v.MinGoods, &v.From, &v.Until,
		sqldb.Time(&v.CreatedAt), &v.Left, &v.Held, &v.Used,
	}
})

// Find returns the voucher of a code that has not ended.
func (s *Vouchers) Find(ctx context.Context, branch int64, hash string) (ordering.Voucher, bool, error) {
	return sqldb.One(ctx, s.db, scanVoucher, stmt("voucher_find"), branch, hash)
}

// UsedBy reports whether a member has an order with the voucher that is not cancelled.
func (s *Vouchers) UsedBy(ctx context.Context, voucher, member int64) (bool, error) {
	n, err := sqldb.Scalar[int64](ctx, s.db, stmt("voucher_used_by"), voucher, member)
	return n > 0, err
}

// List returns the vouchers of a branch that have not ended, newest first.
func (s *Vouchers) List(ctx context.Context, branch int64) ([]ordering.Voucher, error) {
	return sqldb.Collect(ctx, s.db, scanVoucher, stmt("voucher_list"), branch)
}

// Create stores a voucher with its counter.
func (s *Vouchers) Create(
	ctx context.Context, by authz.Actor, v ordering.Voucher, hash string,
) (stored ordering.Voucher, err error) {
	err = s.change(ctx, v.Branch, func(ctx context.Context, tx sqldb.Tx) error {
		n, err := sqldb.Scalar[int64](ctx, tx, stmt("voucher_count"), v.Branch)
		if err == nil && n >= ordering.MaxVouchers {
			err = ordering.ErrVoucherLimit
		}
		if err != nil {
			return err
		}
		if _, taken, err := sqldb.One(ctx, tx, scanVoucher, stmt("voucher_find"), v.Branch, hash); err != nil || taken {
			return errors.Join(err, ordering.ErrVoucherExists)
		}
		id, err := s.counters.AddVoucher(ctx, tx, by, v.Branch, v.Uses())
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, stmt("voucher_insert"), id, v.Branch, hash, v.Hint, v.Discount, maxUses(v.VoucherTerms),
			sqldb.Flag(v.OncePerMember), v.MinGoods, v.From, v.Until, s.now().UnixMilli())
		if err != nil {
			return err
		}
		if stored, err = selectVoucher(ctx, tx, v.Branch, id); err != nil {
			return err
		}
		tx.Queue(stmt("voucher_branch_touch"), v.Branch)
		return auditsql.Record(ctx, tx, s.entry(by, audit.ActionVoucherCreated, stored).WithAfter(note(stored)))
	})
	return stored, err
}

// Change stores new terms of a voucher.
func (s *Vouchers) Change(
	ctx context.Context, by authz.Actor, branch, id int64, t ordering.VoucherTerms,
) (v ordering.Voucher, err error) {
	err = s.change(ctx, branch, func(ctx context.Context, tx sqldb.Tx) error {
		before, err := selectVoucher(ctx, tx, branch, id)
		if err != nil {
			return err
		}
		if v = before; v.VoucherTerms == t {
			return nil
		}
		err = s.counters.SetVoucherUses(ctx, tx, by, branch, id, t.Uses())
		if errors.Is(err, stock.ErrInsufficientStock) {
			err = ordering.ErrVoucherUses.With("taken", before.Held+before.Used)
		}
		if err != nil {
			return err
		}
		tx.QueueExactly(1, stmt("voucher_update"), branch, id, maxUses(t), t.MinGoods, t.From, t.Until)
		if v, err = selectVoucher(ctx, tx, branch, id); err != nil {
			return err
		}
		return auditsql.Record(ctx, tx,
			s.entry(by, audit.ActionVoucherChanged, v).WithBefore(note(before)).WithAfter(note(v)))
	})
	return v, err
}

// End ends a voucher.
func (s *Vouchers) End(ctx context.Context, by authz.Actor, branch, id int64) error {
	return s.change(ctx, branch, func(ctx context.Context, tx sqldb.Tx) error {
		v, err := selectVoucher(ctx, tx, branch, id)
		if err != nil {
			return err
		}
		tx.QueueExactly(1, stmt("voucher_end"), branch, id, s.now().UnixMilli())
		tx.Queue(stmt("voucher_branch_touch"), branch)
		return auditsql.Record(ctx, tx, s.entry(by, audit.ActionVoucherEnded, v).WithBefore(note(v)))
	})
}

// change runs a change of a branch's vouchers under the lock of the branch. The lock makes their number and the uniqueness
// of codes exact.
func (s *Vouchers) change(ctx context.Context, branch int64, do func(context.Context, sqldb.Tx) error) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		_, found, err := sqldb.One(ctx, tx, sqldb.Value[int64], stmt("voucher_branch_lock"), branch)
		if err == nil && !found {
			err = catalog.ErrBranch
		}
		if err != nil {
			return err
		}
		return do(ctx, tx)
	})
}

func selectVoucher(ctx context.Context, tx sqldb.Tx, branch, id int64) (ordering.Voucher, error) {
	v, found, err := sqldb.One(ctx, tx, scanVoucher, stmt("voucher_select"), branch, id)
	if err == nil && !found {
		err = ordering.ErrVoucherMissing
	}
	return v, err
}

// maxUses returns the limit of uses as a column: NULL for none.
func maxUses(t ordering.VoucherTerms) *int64 {
	if t.MaxUses == 0 {
		return nil
	}
	return &t.MaxUses
}

func (s *Vouchers) entry(by authz.Actor, action string, v ordering.Voucher) audit.Entry {
	return audit.NewEntry(by, s.now(), action, "voucher", strconv.FormatInt(v.ID, 10), v.Branch)
}

// note returns a voucher in the form of the audit log.
func note(v ordering.Voucher) map[string]any {
	return map[string]any{
		"code": v.Hint + "…", "discount": v.Discount, "maxUses": v.MaxUses, "oncePerMember": v.OncePerMember,
		"minGoods": v.MinGoods, "from": v.From, "until": v.Until, "used": v.Used,
	}
}
