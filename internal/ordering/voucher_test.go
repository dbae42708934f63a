package ordering_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/testenv"
)

// voucherRegister is a register whose branch has the discounts of the tests and no taxes, and orders without limits.
func voucherRegister(t testing.TB, db *sqldb.DB, p catalog.Pricing) *register {
	t.Helper()
	r := newRegister(t, db, discounts(p), catalog.ClassFood)
	limited(r.Service, ordering.Limits{})
	return r
}

func (r *register) voucher(t testing.TB, n ordering.NewVoucher) ordering.Voucher {
	t.Helper()
	return testenv.Must(r.Vouchers.Create(t.Context(), owner, 1, n))(t)
}

// storedVoucher returns the only voucher of the branch as it is stored.
func (r *register) storedVoucher(t testing.TB) ordering.Voucher {
	t.Helper()
	all := testenv.Must(r.Vouchers.List(t.Context(), owner, 1))(t)
	if len(all) != 1 {
		t.Fatalf("the branch has %d vouchers, want 1", len(all))
	}
	return all[0]
}

// wantUses fails the test unless the voucher's counter has these numbers, and all counters agree with their holds.
func (r *register) wantUses(t testing.TB, db *sqldb.DB, held, used int64) {
	t.Helper()
	if v := r.storedVoucher(t); v.Held != held || v.Used != used {
		t.Errorf("the voucher is held %d times and used %d times, want %d and %d", v.Held, v.Used, held, used)
	}
	counters := testenv.Must(stocksql.New(db).Drift(t.Context(), "2026-01-01"))(t)
	orders := testenv.Must(r.orders.Drift(t.Context(), "", r.now))(t)
	for _, d := range append(counters, orders...) {
		t.Error(d)
	}
}

// coupon returns a request for goods of 3000 with a code.
func coupon(key, code string) ordering.Request {
	req := request(key, ordering.RequestItem{ItemID: 101, Qty: 3})
	req.Voucher, req.Method = code, payment.Counter
	return req
}

// A voucher takes its discount off before service and tax, in a branch without taxes as well; it is used by a payment and
// free again after a cancellation. Staff may take off more, up to their ceiling for that part.
func TestService_Place_voucher(t *testing.T) {
	for name, c := range map[string]struct {
		pricing     catalog.Pricing
		total, more int64
	}{"plain": {catalog.Pricing{}, 2300, 1700}, "taxes": {profile(t, "TW"), 2530, 1870}} {
		t.Run(name, func(t *testing.T) {
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				r := voucherRegister(t, db, c.pricing)
				r.voucher(t, ordering.NewVoucher{Code: "Hello 26", Discount: "AMOUNT", VoucherTerms: ordering.VoucherTerms{MaxUses: 2}})
				quote := testenv.Must(r.Quote(t.Context(), 1, ordering.QuoteRequest{
					MenuVersionID: 1, Kind: ordering.DineIn, Items: []ordering.RequestItem{{ItemID: 101, Qty: 3}}, Voucher: " hello26",
				}))(t)
				placed := testenv.Must(r.Place(t.Context(), r.guest, coupon("a", "hello26")))(t)
				if o := r.stored(t, placed.Order.ID); o.Total != c.total || quote.Total != c.total || o.Discount != 700 {
					t.Errorf("the order costs %d after %d off, and the quote was %d; want %d", o.Total, o.Discount, quote.Total, c.total)
				}
				if again := testenv.Must(r.Place(t.Context(), r.guest, coupon("a", "hello26")))(t); again.New || again.Order.ID != placed.Order.ID {
					t.Errorf("a repetition places %s, new: %t", again.Order.ID, again.New)
				}
				_, err := r.Discount(t.Context(), manager, placed.Order.ID, ordering.DiscountRequest{Code: "OPEN", Percent: "20.1", Reason: "cold"})
				wantCode(t, err, "discount_ceiling")
				testenv.Must(r.Discount(t.Context(), manager, placed.Order.ID, ordering.DiscountRequest{Code: "OPEN", Percent: "20", Reason: "cold"}))(t)
				o := r.stored(t, placed.Order.ID)
				record, _ := o.Record()
				if o.Total != c.more || record.DiscountNames()["en"] != "Voucher + Apology" {
					t.Errorf("the order costs %d with %q, want %d", o.Total, record.DiscountNames(), c.more)
				}
				r.wantUses(t, db, 1, 0)
				testenv.Must(r.Discount(t.Context(), manager, placed.Order.ID, ordering.DiscountRequest{}))(t)
				testenv.Must(r.TakeAtCounter(t.Context(), manager, placed.Order.ID, c.total, false))(t)
				second := testenv.Must(r.Place(t.Context(), r.guest, coupon("b", "HELLO26")))(t)
				r.wantUses(t, db, 1, 1)
				_, err = r.Place(t.Context(), r.guest, coupon("c", "HELLO26"))
				wantCode(t, err, "voucher_used_up")
				testenv.Must(r.Cancel(t.Context(), r.guest, second.Order.ID))(t)
				r.wantUses(t, db, 0, 1)
				testenv.Must(r.Place(t.Context(), r.guest, coupon("d", "HELLO26")))(t)
				r.wantUses(t, db, 1, 1)
				r.audit(t)
			})
		})
	}
}

// A code that cannot be used is refused with its reason, and nothing is held.
func TestService_Place_voucher_refused(t *testing.T) {
	r := voucherRegister(t, sqldbtest.SQLite(t), catalog.Pricing{})
	today := r.now
	terms := func(t ordering.VoucherTerms) ordering.NewVoucher {
		return ordering.NewVoucher{Discount: "REGULAR", VoucherTerms: t}
	}
	for code, v := range map[string]ordering.NewVoucher{
		"LATER":   terms(ordering.VoucherTerms{From: "2026-02-27"}),
		"EARLIER": terms(ordering.VoucherTerms{Until: "2026-02-25"}),
		"TODAY":   terms(ordering.VoucherTerms{From: "2026-02-26", Until: "2026-02-26"}),
		"LARGE":   terms(ordering.VoucherTerms{MinGoods: 3001}),
		"FITS":    terms(ordering.VoucherTerms{MinGoods: 3000}),
		"MEMBERS": {Discount: "REGULAR", OncePerMember: true},
		"ENDED":   terms(ordering.VoucherTerms{}),
		"DROPPED": {Discount: "AMOUNT"},
	} {
		r.now = today
		if v.Until != "" {
			r.now = today.AddDate(0, 0, -1)
		}
		v.Code = code
		made := r.voucher(t, v)
		if code == "ENDED" {
			testenv.NoError(t, r.Vouchers.End(t.Context(), owner, 1, made.ID))
		}
	}
	r.now = today
	k, ok := r.Catalog.(orderingtest.Catalog)
	if !ok {
		t.Fatal("the register has another catalog")
	}
	p := discounts(catalog.Pricing{})
	p.Discounts = p.Discounts[:2] // AMOUNT is gone
	r.Catalog = k.Priced(p, catalog.ClassFood)
	for code, want := range map[string]string{
		"LATER": "voucher_not_yet", "EARLIER": "voucher_expired", "LARGE": "voucher_minimum", "MEMBERS": "voucher_members_only",
		"ENDED": "voucher_unknown", "DROPPED": "voucher_unknown", "NOTHING": "voucher_unknown", "ab": "voucher_unknown", "TODAY": "", "FITS": "",
	} {
		_, err := r.Place(t.Context(), r.guest, coupon(code, code))
		if want == "" {
			testenv.NoError(t, err)
		} else {
			wantCode(t, err, want)
		}
	}
	held := int64(0)
	for _, v := range testenv.Must(r.Vouchers.List(t.Context(), owner, 1))(t) {
		held += v.Held
	}
	testenv.Equal(t, 2, held)
}

// Of many orders with a voucher for the first ten, ten are placed with it.
func TestService_Place_voucher_storm(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := voucherRegister(t, db, catalog.Pricing{})
		r.voucher(t, ordering.NewVoucher{Code: "FIRST-10", Discount: "REGULAR", VoucherTerms: ordering.VoucherTerms{MaxUses: 10}})
		var won, lost atomic.Int64
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() {
				_, err := r.Place(context.WithoutCancel(t.Context()), r.guest, coupon(fmt.Sprint("storm-", i), "FIRST-10"))
				switch {
				case err == nil:
					won.Add(1)
				case errors.Is(err, ordering.ErrVoucherUsedUp):
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 10 || lost.Load() != 20 {
			t.Errorf("%d orders have the voucher and %d were refused, want 10 and 20", won.Load(), lost.Load())
		}
		r.wantUses(t, db, 10, 0)
	})
}

// memberPlace returns an order of a member with a voucher, as a checkout sends it to the ledger.
func memberPlace(r *orderingtest.Restaurant, v ordering.Voucher, key string, member int64, now time.Time) *ordering.Place {
	c := r.Place(key, now, 0, stock.Line{Item: 101, Qty: 1})
	c.Order.Kind, c.Order.VisitID, c.Order.GuestHash, c.Order.UserID = ordering.PickUp, "", "", member
	c.Order.Voucher = v.ID
	c.Hold.Stock = []stock.Line{{Item: v.ID, Qty: 1}}
	return c
}

// A member uses a voucher once, however many requests race; an order that expires returns the use, and late money for it
// is refunded if the member has used the voucher again.
func TestLedger_voucher_once_per_member(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := voucherRegister(t, db, catalog.Pricing{})
		house := &orderingtest.Restaurant{DB: db, Branch: 1, Version: 1}
		v := r.voucher(t, ordering.NewVoucher{
			Code: "WELCOME", Discount: "REGULAR", OncePerMember: true, VoucherTerms: ordering.VoucherTerms{MaxUses: 2},
		})
		var mu sync.Mutex
		var first string
		refused := 0
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				res, err := r.Ledger.Do(context.WithoutCancel(t.Context()), memberPlace(house, v, fmt.Sprint("m", i), 7, r.now))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					first = res.Order.ID
				case errors.Is(err, ordering.ErrVoucherTaken):
					refused++
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if first == "" || refused != 11 {
			t.Fatalf("%d orders were refused, want 11 of 12", refused)
		}
		do := func(c ordering.Command) (ordering.Order, error) {
			res, err := r.Ledger.Do(t.Context(), c)
			return res.Order, err
		}
		testenv.Must(do(orderingtest.End(first, ordering.Expired)))(t)
		second := testenv.Must(do(memberPlace(house, v, "again", 7, r.now)))(t)
		other := testenv.Must(do(memberPlace(house, v, "other", 8, r.now)))(t)
		_, err := do(memberPlace(house, v, "third", 9, r.now))
		if fault.KindOf(err) != fault.Conflict || !errors.Is(err, ordering.ErrVoucherUsedUp) {
			t.Errorf("a third use: error %v, want ErrVoucherUsedUp", err)
		}
		if late := testenv.Must(do(orderingtest.Pay(first, r.now)))(t); late.PaymentStatus != ordering.RefundDue {
			t.Errorf("late money for the first order: %s, want REFUND_DUE", late.PaymentStatus)
		}
		testenv.Must(do(orderingtest.End(other.ID, ordering.UserCanceled)))(t)
		testenv.Equal(t, ordering.Paid, testenv.Must(do(orderingtest.Pay(second.ID, r.now)))(t).PaymentStatus)
		if late := testenv.Must(do(orderingtest.Pay(other.ID, r.now)))(t); late.PaymentStatus != ordering.RefundDue {
			t.Errorf("late money for a cancelled order: %s, want REFUND_DUE", late.PaymentStatus)
		}
		r.wantUses(t, db, 0, 1)
	})
}

// Vouchers are created, changed and ended under their rules; a code is free again after its end.
func TestVouchers(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r := voucherRegister(t, db, catalog.Pricing{})
		for name, c := range map[string]struct {
			n    ordering.NewVoucher
			code string
		}{
			"short code":         {ordering.NewVoucher{Code: "ABC", Discount: "REGULAR"}, "invalid"},
			"odd code":           {ordering.NewVoucher{Code: "PHỞ26", Discount: "REGULAR"}, "invalid"},
			"unknown discount":   {ordering.NewVoucher{Code: "SUMMER", Discount: "NONE"}, "discount_unknown"},
			"discount by hand":   {ordering.NewVoucher{Code: "SUMMER", Discount: "OPEN"}, "discount_unknown"},
			"negative uses":      {ordering.NewVoucher{Code: "SUMMER", Discount: "REGULAR", VoucherTerms: ordering.VoucherTerms{MaxUses: -1}}, "invalid"},
			"no date":            {ordering.NewVoucher{Code: "SUMMER", Discount: "REGULAR", VoucherTerms: ordering.VoucherTerms{From: "2026-02-30"}}, "invalid"},
			"ends before begins": {ordering.NewVoucher{Code: "SUMMER", Discount: "REGULAR", VoucherTerms: ordering.VoucherTerms{From: "2026-03-02", Until: "2026-03-01"}}, "invalid"},
			"ended yesterday":    {ordering.NewVoucher{Code: "SUMMER", Discount: "REGULAR", VoucherTerms: ordering.VoucherTerms{Until: "2026-02-25"}}, "voucher_until_past"},
		} {
			_, err := r.Vouchers.Create(t.Context(), owner, 1, c.n)
			if wantCode(t, err, c.code); t.Failed() {
				t.Fatal(name)
			}
		}
		v := r.voucher(t, ordering.NewVoucher{Code: "SUMMER", Discount: "REGULAR"})
		_, err := r.Vouchers.Create(t.Context(), owner, 1, ordering.NewVoucher{Code: "summer", Discount: "AMOUNT"})
		wantCode(t, err, "voucher_exists")
		for i := range 2 {
			testenv.Must(r.Place(t.Context(), r.guest, coupon(fmt.Sprint(i), "summer")))(t)
		}
		_, err = r.Vouchers.Change(t.Context(), owner, 1, v.ID, ordering.VoucherTerms{MaxUses: 1})
		wantCode(t, err, "voucher_uses")
		_, err = r.Vouchers.Change(t.Context(), owner, 1, v.ID, ordering.VoucherTerms{Until: "2026-02-25"})
		wantCode(t, err, "voucher_until_past")
		changed := testenv.Must(r.Vouchers.Change(t.Context(), owner, 1, v.ID, ordering.VoucherTerms{MaxUses: 2, MinGoods: 500}))(t)
		if changed.Left != 0 || changed.Held != 2 || changed.MinGoods != 500 {
			t.Errorf("the changed voucher is %+v", changed)
		}
		_, err = r.Place(t.Context(), r.guest, coupon("2", "SUMMER"))
		wantCode(t, err, "voucher_used_up")
		testenv.Must(r.Vouchers.Change(t.Context(), owner, 1, v.ID, ordering.VoucherTerms{}))(t)
		testenv.Must(r.Place(t.Context(), r.guest, coupon("3", "SUMMER")))(t)
		_, err = r.Vouchers.Change(t.Context(), owner, 1, v.ID+1, ordering.VoucherTerms{})
		wantCode(t, err, "voucher_not_found")
		stranger := manager
		stranger.Branches = []int64{2}
		_, err = r.Vouchers.List(t.Context(), stranger, 1)
		testenv.ErrorIs(t, catalog.ErrBranch, err, "the vouchers of another branch")
		testenv.NoError(t, r.Vouchers.End(t.Context(), owner, 1, v.ID))
		r.voucher(t, ordering.NewVoucher{Code: "SUMMER", Discount: "AMOUNT"})
		r.wantUses(t, db, 0, 0)
		// A voucher is not listed as stock.
		levels, total, err := stocksql.New(db).Levels(t.Context(), stock.LevelFilter{Branch: 1, Limit: 10})
		if err != nil || total != 0 || len(levels) != 0 {
			t.Errorf("%d stock items, %v; want none", total, err)
		}
	})
}
