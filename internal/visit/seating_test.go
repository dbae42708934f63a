package visit_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"comanda/internal/authz"
	"comanda/internal/testenv"
	"comanda/internal/visit"
)

func (h *fixture) seat(table int64) visit.Visit {
	h.t.Helper()
	return testenv.Must(h.floor.Seat(h.t.Context(), authz.System(), table))(h.t)
}

func (h *fixture) move(v string, table int64) visit.Visit {
	h.t.Helper()
	return testenv.Must(h.floor.Move(h.t.Context(), authz.System(), v, table))(h.t)
}

// use takes a table out of use, or back into use.
func (h *fixture) use(table int64, active bool) error {
	h.t.Helper()
	_, err := h.floor.EditTable(h.t.Context(), authz.System(), table, visit.TableEdit{Active: &active})
	return err
}

func TestFloor_Seat(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		v := h.seat(3)
		if !v.Open || v.TableLabel != "A3" || v.BizDate != "2026-02-26" || v.Guests != 0 || !v.OpenedAt.Equal(h.clock.Now()) {
			t.Errorf("Seat = %+v, want an open visit at A3 without phones", v)
		}
		if l := h.scan(3, ""); l.VisitID != v.ID {
			t.Error("a scan of the code did not join the visit")
		}
		_, err := h.floor.Seat(t.Context(), authz.System(), 3)
		testenv.ErrorIs(t, visit.ErrTableTaken, err, "a second party")
		h.scan(4, "")
		_, err = h.floor.Seat(t.Context(), authz.System(), 4)
		testenv.ErrorIs(t, visit.ErrTableTaken, err, "where a guest sits")
		testenv.NoError(t, h.use(5, false))
		_, err = h.floor.Seat(t.Context(), authz.System(), 5)
		testenv.ErrorIs(t, visit.ErrTableInactive, err, "a table out of use")
		for _, by := range []authz.Actor{authz.System(), {Kind: authz.Account, Branches: []int64{2}}} {
			table := map[bool]int64{true: 99, false: 6}[by.AllBranches]
			_, err = h.floor.Seat(t.Context(), by, table)
			testenv.ErrorIs(t, visit.ErrTable, err, "no table of theirs")
		}
	})
}

// V6: guests keep their tokens, new phones join at the new table, and a new visit opens at the old one.
func TestFloor_Move(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		g := h.scan(3, "")
		testenv.Must(h.guests.Resolve(t.Context(), g.CustomerToken))(t)
		v := h.move(g.VisitID, 5)
		if v.ID != g.VisitID || v.TableID != 5 || v.TableLabel != "A5" || v.Guests != 1 || !v.Open {
			t.Errorf("Move = %+v, want visit %s at A5 with its phone", v, g.VisitID)
		}
		guest, err := h.guests.Resolve(t.Context(), g.CustomerToken)
		if err != nil || guest.VisitID != g.VisitID || guest.TableID != 5 {
			t.Errorf("the phone is %+v, %v", guest, err)
		}
		if l := h.scan(5, g.CustomerToken); l.CustomerToken != g.CustomerToken || l.VisitID != g.VisitID || l.TableLabel != "A5" {
			t.Errorf("the phone at the new table: %+v", l)
		}
		if l := h.scan(5, ""); l.VisitID != g.VisitID {
			t.Error("the new table's code does not join the visit")
		}
		if l := h.scan(3, ""); l.VisitID == g.VisitID {
			t.Error("the old table's code still joins the visit")
		}
		testenv.Equal(t, 5, h.move(g.VisitID, 5).TableID)
		testenv.Equal(t, 2, len(h.openVisits()))
	})
}

func TestFloor_Move_refuses(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		v, gone := h.seat(1), h.seat(2)
		h.seat(3)
		h.close(gone.ID)
		testenv.NoError(t, h.use(5, false))
		otherBranchActor := authz.Actor{Kind: authz.Account, Branches: []int64{2}}
		for what, c := range map[string]struct {
			by    authz.Actor
			visit string
			table int64
			want  error
		}{
			"a taken table":               {authz.System(), v.ID, 3, visit.ErrTableTaken},
			"a table out of use":          {authz.System(), v.ID, 5, visit.ErrTableInactive},
			"no table":                    {authz.System(), v.ID, 99, visit.ErrTable},
			"a table of another branch":   {authz.System(), v.ID, 7, visit.ErrTable},
			"no visit":                    {authz.System(), "nobody", 4, visit.ErrVisit},
			"a visit that has ended":      {authz.System(), gone.ID, 4, visit.ErrClosed},
			"a visit of another branch":   {otherBranchActor, v.ID, 4, visit.ErrVisit},
			"their table, foreign visit":  {otherBranchActor, v.ID, 7, visit.ErrVisit},
			"nothing that they could see": {otherBranchActor, "nobody", 99, visit.ErrVisit},
		} {
			testenv.ErrorIs(t, c.want, testenv.Err(h.floor.Move(t.Context(), c.by, c.visit, c.table)), what)
		}
		if open := h.openVisits(); len(open) != 2 || open[1].TableID != 1 && open[0].TableID != 1 {
			t.Errorf("after nothing but refusals: %+v", open)
		}
	})
}

// V1, V6: several visits are moved to one free table at once; one gets it, the others stay.
func TestFloor_Move_at_once(t *testing.T) {
	each(t, func(h *fixture) {
		parties := []string{h.seat(1).ID, h.seat(2).ID, h.seat(3).ID, h.seat(4).ID}
		var won atomic.Int32
		var wg sync.WaitGroup
		for _, id := range parties {
			wg.Go(func() {
				switch _, err := h.floor.Move(h.t.Context(), authz.System(), id, 6); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, visit.ErrTableTaken):
					h.t.Error(err)
				}
			})
		}
		wg.Wait()
		at := map[int64]int{}
		for _, v := range h.openVisits() {
			at[v.TableID]++
		}
		if won.Load() != 1 || at[6] != 1 || len(at) != len(parties) {
			h.t.Errorf("%d visits were moved; the tables are %v", won.Load(), at)
		}
	})
}

// Two visits that are moved to each other's table at once are both refused, without a deadlock.
func TestFloor_Move_crosswise(t *testing.T) {
	each(t, func(h *fixture) {
		a, b := h.seat(1).ID, h.seat(2).ID
		var wg sync.WaitGroup
		for range 5 {
			for _, m := range []struct {
				id    string
				table int64
			}{{a, 2}, {b, 1}} {
				wg.Go(func() {
					_, err := h.floor.Move(h.t.Context(), authz.System(), m.id, m.table)
					testenv.ErrorIs(h.t, visit.ErrTableTaken, err, "swapping_tables")
				})
			}
		}
		wg.Wait()
	})
}

// While a visit moves back and forth, phones scan both codes: each scan succeeds, each table has at most one visit, and
// no guest is removed.
func TestFloor_Move_while_phones_scan(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		party := h.scan(1, "")
		codes := []string{h.qr(1), h.qr(2)}
		var wg sync.WaitGroup
		for _, qr := range codes {
			wg.Go(func() {
				for range 15 {
					l, err := h.landing.Scan(t.Context(), qr, "")
					if err != nil {
						t.Error(err)
						return
					}
					if l.VisitID == party.VisitID { // close the others, which frees their table
						continue
					}
					if _, err := h.floor.Close(t.Context(), authz.System(), l.VisitID); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Go(func() {
			for i := range 30 {
				_, err := h.floor.Move(t.Context(), authz.System(), party.VisitID, int64(2-i%2))
				if err != nil && !errors.Is(err, visit.ErrTableTaken) {
					t.Error(err)
				}
			}
		})
		wg.Wait()
		at := map[int64]int{}
		for _, v := range h.openVisits() {
			if at[v.TableID]++; at[v.TableID] > 1 {
				t.Errorf("two parties at table %d", v.TableID)
			}
		}
		testenv.Equal(t, party.VisitID, testenv.Must(h.guests.Resolve(t.Context(), party.CustomerToken))(t).VisitID)
	})
}

func TestFloor_Call(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		l := h.scan(3, "")
		g := testenv.Must(h.guests.Resolve(t.Context(), l.CustomerToken))(t)
		ring := func(reason visit.CallReason) visit.Visit {
			t.Helper()
			return testenv.Must(h.floor.Call(t.Context(), g, reason))(t)
		}
		notified := 0
		h.floor.OnChange = func(branch int64) {
			if notified++; branch != 1 {
				t.Errorf("branch %d is notified", branch)
			}
		}
		at := h.clock.Now()
		ring(visit.CallWater)
		h.clock.Advance(time.Minute)
		again := ring(visit.CallWater)
		both := ring(visit.CallBill)
		if !again.Calls.Water.Equal(at) || !both.Calls.Since(visit.CallBill).Equal(h.clock.Now()) || !both.Calls.Help.IsZero() || notified != 2 {
			t.Errorf("notified %d times; %+v", notified, both.Calls)
		}
		if v := h.openVisits(); v[0].Calls != both.Calls {
			t.Errorf("listed: %+v", v[0].Calls)
		}
		if all, err := h.floor.Tables(t.Context(), authz.System(), 1); err != nil || all[2].Party == nil || all[2].Party.Calls != both.Calls {
			t.Errorf("on the floor: %+v, %v", all[2].Party, err)
		}
		if moved := h.move(g.VisitID, 5); moved.Calls != both.Calls { // V6
			t.Errorf("after the move: %+v", moved.Calls)
		}
		answered, err := h.floor.Answer(t.Context(), authz.System(), g.VisitID, visit.CallWater)
		if err != nil || answered.Calls != (visit.Calls{Bill: both.Calls.Bill}) {
			t.Errorf("calls after the answer to WATER = %+v, %v, want only BILL", answered.Calls, err)
		}
		for range 2 { // the second call succeeds too
			answered, err = h.floor.Answer(t.Context(), authz.System(), g.VisitID, "")
			if err != nil || answered.Calls != (visit.Calls{}) {
				t.Errorf("calls after all answers = %+v, %v, want none", answered.Calls, err)
			}
		}
	})
}

func TestFloor_Call_refuses(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		l := h.scan(3, "")
		g := testenv.Must(h.guests.Resolve(t.Context(), l.CustomerToken))(t)
		testenv.Must(h.floor.Call(t.Context(), g, visit.CallHelp))(t)
		_, err := h.floor.Answer(t.Context(), authz.Actor{Kind: authz.Account, Branches: []int64{2}}, g.VisitID, "")
		testenv.ErrorIs(t, visit.ErrVisit, err, "an answer from elsewhere")
		_, err = h.floor.Answer(t.Context(), authz.System(), "nobody", "")
		testenv.ErrorIs(t, visit.ErrVisit, err, "an answer to an unknown visit")
		if v := h.openVisits(); v[0].Calls.Help.IsZero() {
			t.Error("an actor of another branch ended the call")
		}
		h.close(g.VisitID)
		_, err = h.floor.Call(t.Context(), g, visit.CallBill) // by a process whose cache does not have the closing yet
		testenv.ErrorIs(t, visit.ErrClosed, err, "who has gone")
	})
}
