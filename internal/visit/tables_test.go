package visit_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/testenv"
	"comanda/internal/visit"
)

func TestFloor_AddTable(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		made, err := h.floor.AddTable(t.Context(), authz.System(), visit.Table{BranchID: 1, Label: "Sân 7", Seats: 8})
		if err != nil || made.ID == 0 || made.Label != "Sân 7" || made.Seats != 8 || !made.Active || len(made.QR) != 22 {
			t.Fatalf("AddTable = %+v, %v, want an active one with 8 seats and a code", made, err)
		}
		if l, err := h.landing.Scan(t.Context(), made.QR, ""); err != nil || l.TableID != made.ID {
			t.Errorf("its code leads to %+v, %v", l, err)
		}
		terrace, err := h.floor.AddTable(t.Context(), authz.System(), visit.Table{BranchID: 1, Label: "S1", Seats: 4, Section: " Terrace "})
		if err != nil || terrace.Section != "Terrace" {
			t.Errorf("AddTable = %+v, %v, want section Terrace", terrace, err)
		}
		for what, c := range map[string]struct {
			by    authz.Actor
			table visit.Table
			want  string
		}{
			"a label that is taken":   {authz.System(), visit.Table{BranchID: 1, Label: "A3", Seats: 4}, "table_label_taken"},
			"no label":                {authz.System(), visit.Table{BranchID: 1, Seats: 4}, "1 to 16 printable characters"},
			"a long label":            {authz.System(), visit.Table{BranchID: 1, Label: strings.Repeat("桌", 17), Seats: 4}, "1 to 16 printable characters"},
			"a label of two lines":    {authz.System(), visit.Table{BranchID: 1, Label: "A\n7", Seats: 4}, "1 to 16 printable characters"},
			"a label that is a blank": {authz.System(), visit.Table{BranchID: 1, Label: " ", Seats: 4}, "1 to 16 printable characters"},
			"a long section":          {authz.System(), visit.Table{BranchID: 1, Label: "C1", Seats: 4, Section: strings.Repeat("桌", 33)}, "32 printable characters"},
			"a section of two lines":  {authz.System(), visit.Table{BranchID: 1, Label: "C1", Seats: 4, Section: "A\nB"}, "32 printable characters"},
			"no seats":                {authz.System(), visit.Table{BranchID: 1, Label: "C1"}, "1 to 100 seats"},
			"too many seats":          {authz.System(), visit.Table{BranchID: 1, Label: "C1", Seats: 101}, "1 to 100 seats"},
			"no branch":               {authz.System(), visit.Table{BranchID: 9, Label: "C1", Seats: 4}, "branch_not_found"},
			"a foreign branch":        {authz.Actor{Branches: []int64{2}}, visit.Table{BranchID: 1, Label: "C1", Seats: 4}, "branch_not_found"},
		} {
			if _, err := h.floor.AddTable(t.Context(), c.by, c.table); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("AddTable with %s: error %v, want %q", what, err, c.want)
			}
		}
		if _, err := h.floor.AddTable(t.Context(), authz.System(), visit.Table{BranchID: 2, Label: "A3", Seats: 4}); err != nil {
			t.Errorf("a label of another branch: %v", err)
		}
		testenv.Equal(t, 21, len(testenv.Must(h.floor.Tables(t.Context(), authz.System(), 0))(t)))
	})
}

func TestFloor_EditTable(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		edit := func(e visit.TableEdit) (visit.Table, error) {
			return h.floor.EditTable(t.Context(), authz.System(), 3, e)
		}
		if got, err := edit(visit.TableEdit{Label: new("A35"), Seats: new(2)}); err != nil || got.Label != "A35" || got.Seats != 2 || !got.Active || got.QR != h.qr(3) {
			t.Errorf("EditTable = %+v, %v, want A35 with 2 seats and the same code", got, err)
		}
		for _, section := range []string{"Terrace", ""} {
			if got, err := edit(visit.TableEdit{Section: &section}); err != nil || got.Section != section || got.Label != "A35" {
				t.Errorf("EditTable with section %q = %+v, %v, want only the section changed", section, got, err)
			}
		}
		if got, err := edit(visit.TableEdit{}); err != nil || got.Label != "A35" || got.Seats != 2 {
			t.Errorf("an edit of nothing: %+v, %v", got, err)
		}
		_, err := edit(visit.TableEdit{Label: new("A4")})
		testenv.ErrorIs(t, visit.ErrLabelTaken, err, "another's label")
		if _, err := edit(visit.TableEdit{Seats: new(0)}); err == nil {
			t.Error("a table without seats was accepted")
		}
		_, err = h.floor.EditTable(t.Context(), authz.Actor{Branches: []int64{2}}, 3, visit.TableEdit{Seats: new(9)})
		testenv.ErrorIs(t, visit.ErrTable, err, "a foreign table")

		l := h.scan(3, "")
		testenv.ErrorIs(t, visit.ErrTableTaken, h.use(3, false), "out of use under its guests")
		h.close(l.VisitID)
		testenv.NoError(t, h.use(3, false))
		_, err = h.landing.Scan(t.Context(), h.qr(3), "")
		testenv.ErrorIs(t, visit.ErrTableInactive, err, "a scan at a table out of use")
		testenv.NoError(t, h.use(3, true))
		h.scan(3, "")
		if got := h.log("table:3"); !slices.Equal(got, slices.Repeat([]string{"table_edited"}, 5)) {
			t.Errorf("the audit log has %v", got)
		}
	})
}

// log returns the actions in the audit log about a subject, oldest first.
func (h *fixture) log(subject string) []string {
	h.t.Helper()
	entries, _ := testenv.Must2(auditsql.NewLog(h.db).Entries(h.t.Context(), audit.Filter{
		Subject: subject, EveryBranch: true, To: h.clock.Now().AddDate(1, 0, 0), Limit: 100,
	}))(h.t)
	var actions []string
	for _, e := range slices.Backward(entries) {
		actions = append(actions, e.Action)
		if all, _ := h.floor.Tables(h.t.Context(), authz.System(), 0); slices.ContainsFunc(all, func(t visit.Table) bool {
			return strings.Contains(e.Before+e.After, t.QR)
		}) {
			h.t.Errorf("the audit log contains a code: %+v", e)
		}
	}
	return actions
}

// A scan while the table is taken out of use either succeeds and keeps it in use, or is refused.
func TestFloor_EditTable_while_phones_scan(t *testing.T) {
	each(t, func(h *fixture) {
		qr := h.qr(3)
		var landed, closed error
		var wg sync.WaitGroup
		wg.Go(func() { _, landed = h.landing.Scan(h.t.Context(), qr, "") })
		wg.Go(func() { closed = h.use(3, false) })
		wg.Wait()
		in, out := landed == nil && errors.Is(closed, visit.ErrTableTaken), errors.Is(landed, visit.ErrTableInactive) && closed == nil
		if !in && !out {
			h.t.Errorf("the scan: %v; the table: %v", landed, closed)
		}
	})
}

func TestFloor_Codes(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		testenv.NoError(t, h.use(2, false))
		codes := func(ids ...int64) []int64 {
			t.Helper()
			b, all, err := h.floor.PrintCodes(t.Context(), authz.System(), 1, ids)
			if err != nil || b.ID != 1 {
				t.Fatalf("PrintCodes of %+v, error %v, want branch 1", b, err)
			}
			got := make([]int64, len(all))
			for i, table := range all {
				got[i] = table.ID
			}
			return got
		}
		if got := codes(); !slices.Equal(got, []int64{1, 3, 4, 5, 6}) {
			t.Errorf("all of them: %v", got)
		}
		if got := codes(5, 2, 5); !slices.Equal(got, []int64{2, 5}) {
			t.Errorf("two of them: %v", got)
		}
		_, _, err := h.floor.PrintCodes(t.Context(), authz.System(), 1, []int64{1, 7})
		testenv.ErrorIs(t, visit.ErrTable, err, "one of another branch")
		_, _, err = h.floor.Codes(t.Context(), authz.Actor{Branches: []int64{2}}, 1, nil)
		testenv.ErrorIs(t, catalog.ErrBranch, err, "a foreign branch")
		_, err = h.floor.PrintCode(t.Context(), authz.Actor{Branches: []int64{2}}, 3)
		testenv.ErrorIs(t, visit.ErrTable, err, "a foreign table")
		if one, err := h.floor.PrintCode(t.Context(), authz.System(), 3); err != nil || one.QR != h.qr(3) {
			t.Errorf("PrintCode = %+v, %v, want the code of table 3", one, err)
		}
		if one, err := h.floor.Code(t.Context(), authz.System(), 3); err != nil || one.QR != h.qr(3) {
			t.Errorf("Code = %+v, %v, want the code of table 3", one, err)
		}
		if got := append(h.log("branch:1"), h.log("table:3")...); !slices.Equal(got, []string{"table_codes_printed", "table_codes_printed", "table_codes_printed"}) {
			t.Errorf("the audit log has %v", got)
		}
		// The sheet of a branch with one table is about the branch, too.
		for _, id := range []int64{1, 4, 5, 6} {
			testenv.Must(h.floor.EditTable(t.Context(), authz.System(), id, visit.TableEdit{Active: new(false)}))(t)
		}
		if got := codes(); !slices.Equal(got, []int64{3}) || len(h.log("branch:1")) != 3 || len(h.log("table:3")) != 1 {
			t.Errorf("one table: %v, %v, %v", got, h.log("branch:1"), h.log("table:3"))
		}
	})
}

// The floor plan shows each table's open visit and the amount to pay.
func TestFloor_Tables(t *testing.T) {
	each(t, func(h *fixture) {
		t := h.t
		l := h.scan(3, "")
		h.scan(3, "")
		testenv.Must(h.db.Exec(t.Context(), orderStmts.Must("unpaid"), l.VisitID))(t)
		look := func() visit.Party {
			t.Helper()
			all, err := h.floor.Tables(t.Context(), authz.System(), 1)
			if err != nil || all[2].Party == nil || all[3].Party != nil {
				t.Fatalf("Tables = %+v, %v, want a party at the third only", all, err)
			}
			return *all[2].Party
		}
		want := visit.Party{VisitID: l.VisitID, OpenedAt: h.clock.Now(), Guests: 2, Orders: 1, Unpaid: 1, Currency: "VND"}
		if got := look(); got != want {
			t.Errorf("party = %+v, want %+v", got, want)
		}
		testenv.Must(h.db.Exec(t.Context(), orderStmts.Must("paid"), l.VisitID))(t)
		if want.Unpaid = 0; look() != want {
			t.Errorf("after its payment: %+v", look())
		}
	})
}
