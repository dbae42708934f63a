package app

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingsql"
	"comanda/internal/payment"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
	"comanda/internal/visit"
)

// In the demo's first menu phở bò has a quota of 20 and phở gà none.
const (
	phoBo   = 11
	phoGa   = 12
	version = 5
)

// seat creates a guest at the first table of branch 1.
func seat(t *testing.T, k *Core) ordering.Guest {
	t.Helper()
	tables := testenv.Must(k.Floor.Tables(t.Context(), authz.System(), 1))(t)
	l := testenv.Must(k.Landing.Scan(t.Context(), tables[0].QR, ""))(t)
	return ordering.Guest{Branch: 1, VisitID: l.VisitID, Hash: visit.HashToken(l.CustomerToken)}
}

// order orders one portion.
func order(t *testing.T, k *Core, g ordering.Guest, key string, item int64) error {
	_, err := k.Orders.Place(t.Context(), g, ordering.Request{
		Items: []ordering.RequestItem{{ItemID: item, Qty: 1}}, Method: payment.Counter, ClientTxnID: key, MenuVersionID: version,
	})
	return err
}

// Once TakeOff has returned, no order gets the item, whichever process it reaches and whatever that process's admission
// cache holds. The returned impact counts every order that was placed before.
func TestTakeOff_races_orders(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		local, remote := demoCore(t, db), demoCore(t, db) // with separate Redis servers, so without notifications
		for _, k := range []*Core{local, remote} {
			settings := k.Orders.Settings()
			settings.Limits = ordering.Limits{}
			k.Orders.Settings = func() ordering.Settings { return settings }
		}
		g := seat(t, local)
		for _, item := range []int64{phoGa, phoBo} {
			var off atomic.Bool
			var sold, late atomic.Int64
			begun := make(chan struct{})
			var once sync.Once
			var wg sync.WaitGroup
			for i := range 8 {
				k := []*Core{local, remote}[i%2]
				wg.Go(func() {
					for n := range 40 {
						after := off.Load()
						err := order(t, k, g, fmt.Sprint(item, i, n), item)
						switch {
						case err == nil && after:
							late.Add(1)
						case err == nil:
							if sold.Add(1) == 5 {
								once.Do(func() { close(begun) })
							}
						case !errors.Is(err, ordering.ErrSoldOut):
							t.Error(err)
						}
					}
				})
			}
			<-begun
			_, hits, err := local.CatalogServices.Availability.TakeOff(t.Context(), authz.System(), item, catalog.Until{})
			off.Store(true)
			wg.Wait()
			if err != nil || late.Load() != 0 || hits.Holds != sold.Load() || hits.Units != sold.Load() {
				t.Errorf("item %d: %d orders were placed and %+v counted, %d came after it was off, %v",
					item, sold.Load(), hits, late.Load(), err)
			}
		}
	})
}

// An item that was 86'd is shown as sold out and refused at once. It is sold again when it is restored or its time has
// ended.
func TestTakeOff_seen_and_ended(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k := demoCore(t, db)
		g, kitchen := seat(t, k), k.CatalogServices.Availability
		var ahead atomic.Int64
		kitchen.Now = func() time.Time { return db.Now().Add(time.Duration(ahead.Load())) }
		counted := func(item int64) (*int64, bool) {
			t.Helper()
			c := testenv.Must(kitchen.Menu(t.Context(), authz.System(), 1))(t)
			_, off := c.OffItems[item]
			return c.Left(item), off
		}
		for i, end := range []func(item int64) error{
			func(item int64) error { return kitchen.Restore(t.Context(), authz.System(), item) },
			func(int64) error {
				ahead.Store(int64(time.Hour))
				return kitchen.RestoreDue(t.Context())
			},
		} {
			ahead.Store(0)
			for _, item := range []int64{phoBo, phoGa} {
				testenv.Must2(kitchen.TakeOff(t.Context(), authz.System(), item, catalog.Until{At: db.Now().Add(time.Hour)}))(t)
				menu, err := k.Menus.Active(t.Context(), 1)
				if err != nil || len(menu.Off) == 0 {
					t.Errorf("items off on the menu = %v, %v, want one", menu.Off, err)
				}
				if left, off := counted(item); left == nil || *left != 0 || !off {
					t.Errorf("console: %v left, off %t, want 0 and off", left, off)
				}
				if err := order(t, k, g, fmt.Sprint("off", i, item), item); !errors.Is(err, ordering.ErrSoldOut) || ordering.ShortLines(err)[0].Available != 0 {
					t.Errorf("order of %d while it is off: error %v, want ErrSoldOut with 0 available", item, err)
				}
				testenv.NoError(t, kitchen.RestoreDue(t.Context()))
				if _, off := counted(item); !off {
					t.Error("it is back before its time")
				}
				testenv.NoError(t, end(item))
				if err := order(t, k, g, fmt.Sprint("back", i, item), item); err != nil {
					t.Errorf("order after the item is back: %v", err)
				}
				if left, off := counted(item); off || item == phoGa && left != nil || item == phoBo && *left >= 20 {
					t.Errorf("console: %v left, off %t, want its quota and not off", left, off)
				}
				ahead.Store(0)
			}
		}
	})
}

// A paused branch refuses its guests with the reason, and shows it on the menu and on arrival. The pause ends by
// itself.
func TestPause(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k, remote := demoCore(t, db), demoCore(t, db) // the second is notified of the pause a moment later
		g, house := seat(t, k), k.CatalogServices.Branches
		for key, at := range map[string]*Core{"before": k, "before, there": remote} {
			testenv.NoError(t, order(t, at, g, key, phoGa))
		}
		until := db.Now().Add(time.Hour)
		pause := catalog.Pause{Texts: catalog.Texts{catalog.Vietnamese: "Mất điện", catalog.English: "Power cut"}}
		testenv.Must(house.Pause(t.Context(), authz.System(), 1, pause, catalog.Until{At: until}))(t)
		if err := order(t, remote, g, "paused, there", phoGa); !errors.Is(err, catalog.ErrPaused) {
			t.Errorf("order through another process: error %v, want ErrPaused", err)
		}
		err := order(t, k, g, "paused", phoGa)
		var f *fault.Error
		if !errors.As(err, &f) || f.PublicCode() != "outlet_paused" || !f.Extra["until"].(time.Time).Equal(until) ||
			f.Extra["reasons"].(catalog.Texts)[catalog.English] != "Power cut" {
			t.Errorf("order: error %v, want outlet_paused with its end and reason", err)
		}
		if err := order(t, k, g, "before", phoGa); err != nil {
			t.Errorf("repetition of an order from before the pause: %v", err)
		}
		b, err := k.Menus.Branch(t.Context(), 1)
		if err != nil || b.Paused(db.Now()) == nil || b.Paused(until) != nil {
			t.Errorf("pause = %+v, %v, want one until %v", b.Pause, err, until)
		}
		now := k.Orders.Now
		k.Orders.Now = func() time.Time { return now().Add(time.Hour) }
		late := orderingsql.NewLedger(db, k.Syncer, k.Orders.Now)
		defer late.Stop()
		k.Orders.Ledger = late
		if err := order(t, k, g, "an hour later", phoGa); err != nil {
			t.Errorf("order after the end of the pause: %v", err)
		}
		k.Orders.Now, k.Orders.Ledger = now, k.Ledger
		testenv.Must(house.Resume(t.Context(), authz.System(), 1))(t)
		if err := order(t, k, g, "resumed", phoGa); err != nil {
			t.Error(err)
		}
	})
}

// A branch with guests cannot be retired. A retired branch disappears from lists, and its QR codes and orders are
// refused until it is restored.
func TestRetire(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k := demoCore(t, db)
		house := k.CatalogServices.Branches
		tables := testenv.Must(k.Floor.Tables(t.Context(), authz.System(), 2))(t)
		g := seat(t, k)
		testenv.NoError(t, order(t, k, g, "a", phoGa))
		_, err := house.Retire(t.Context(), authz.System(), 1)
		if f, ok := errors.AsType[*fault.Error](err); !ok || !errors.Is(err, catalog.ErrBranchBusy) ||
			f.Extra["visits"] != int64(1) || f.Extra["orders"] != int64(1) {
			t.Errorf("Retire with a guest: error %v, want ErrBranchBusy with one visit and one order", err)
		}
		_, err = house.Edit(t.Context(), authz.System(), 1, catalog.BranchEdit{Currency: new(money.USD)})
		if !errors.Is(err, catalog.ErrBranchHasOrders) {
			t.Errorf("Edit of the currency: error %v, want ErrBranchHasOrders", err)
		}
		b, err := house.Edit(t.Context(), authz.System(), 2, catalog.BranchEdit{Timezone: new("Asia/Tokyo")})
		if err != nil || b.Timezone != "Asia/Tokyo" || b.HasOrders {
			t.Errorf("Edit = %+v, %v, want Asia/Tokyo without orders", b, err)
		}
		for range 2 { // a repetition changes nothing
			if b, err = house.Retire(t.Context(), authz.System(), 2); err != nil || !b.Retired() {
				t.Fatal(b, err)
			}
		}
		if _, err := k.Landing.Scan(t.Context(), tables[0].QR, ""); !errors.Is(err, visit.ErrTableInactive) {
			t.Errorf("Scan: error %v, want ErrTableInactive", err)
		}
		if _, err := k.Floor.Seat(t.Context(), authz.System(), tables[0].ID); !errors.Is(err, visit.ErrTableInactive) {
			t.Errorf("Seat: error %v, want ErrTableInactive", err)
		}
		if b, err := k.Menus.Branch(t.Context(), 2); err != nil || !errors.Is(b.CheckOpen(db.Now()), catalog.ErrRetired) {
			t.Errorf("CheckOpen = %v, %v, want ErrRetired", b.CheckOpen(db.Now()), err)
		}
		used, err := house.Branches(t.Context(), authz.System())
		retired, also := house.Retired(t.Context(), authz.System())
		if err != nil || also != nil || len(used) != 2 || len(retired) != 1 || retired[0].ID != 2 ||
			!retired[0].RetiredAt.Equal(b.RetiredAt) {
			t.Errorf("%d branches in use, %d retired, errors %v and %v, want two and one", len(used), len(retired), err, also)
		}
		cook := authz.Actor{Kind: authz.Account, UserID: 9, Role: authz.RoleManager, Branches: []int64{2}}
		if _, err := house.Restore(t.Context(), cook, 2); !errors.Is(err, authz.ErrForbidden) {
			t.Errorf("Restore by a manager: error %v, want ErrForbidden", err)
		}
		if b, err = house.Restore(t.Context(), authz.System(), 2); err != nil || b.Retired() {
			t.Errorf("Restore = %+v, %v, want a branch in use", b, err)
		}
		if _, err := k.Landing.Scan(t.Context(), tables[0].QR, ""); err != nil {
			t.Errorf("Scan after the restoration: %v", err)
		}
	})
}

// A copied branch has the settings, hours and menu of the original, but none of its tables. One key creates one copy.
func TestCopyBranch(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		k := demoCore(t, db)
		house, files := k.CatalogServices.Branches, k.CatalogServices.Files
		hours := catalog.OpeningHours{Weekly: map[catalog.Weekday][]catalog.Period{"fri": {{From: "17:00", To: "01:00"}}}}
		before := testenv.Must(house.Edit(t.Context(), authz.System(), 1, catalog.BranchEdit{Hours: &hours}))(t)
		var ids []int64
		for range 2 {
			b, err := house.Copy(t.Context(), authz.System(), files, catalog.BranchCopy{From: 1, Name: "Second", ClientTxnID: "k"})
			if err != nil || b.Name != "Second" || b.Timezone != before.Timezone || b.Hours.Weekly["fri"][0].To != "01:00" {
				t.Fatal(b, err)
			}
			ids = append(ids, b.ID)
		}
		original, err := k.Menus.Active(t.Context(), 1)
		menu, also := k.Menus.Active(t.Context(), ids[0])
		if err != nil || also != nil || ids[0] != ids[1] || len(menu.Items) != len(original.Items) || len(menu.Items) == 0 {
			t.Fatalf("copies %v with menus %v, errors %v and %v, want one copy with all items", ids, menu, err, also)
		}
		if tables, err := k.Floor.Tables(t.Context(), authz.System(), ids[0]); len(tables) != 0 || err != nil {
			t.Errorf("copy has %d tables, %v, want none", len(tables), err)
		}
		_, err = house.Copy(t.Context(), authz.System(), files, catalog.BranchCopy{From: 1, Name: "Third", ClientTxnID: "k"})
		if !errors.Is(err, catalog.ErrBranchKeyReused) {
			t.Errorf("another name under the key: error %v, want ErrBranchKeyReused", err)
		}
		_, err = house.Copy(t.Context(), authz.System(), files, catalog.BranchCopy{From: 99, Name: "X"})
		if !errors.Is(err, catalog.ErrBranch) {
			t.Errorf("copy of an unknown branch: error %v, want ErrBranch", err)
		}
	})
}
