package catalogsql_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

func decimal(id int64) string { return strconv.FormatInt(id, 10) }

func menuEditor(s *catalogsql.Store) *catalog.MenuEditor {
	clock := func() time.Time { return now }
	return &catalog.MenuEditor{Store: s, Menus: catalog.NewMenuCache(s, catalog.NoSharedCache{}, clock), Now: clock}
}

func TestStore_menus(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		c := menuEditor(s)
		m := testenv.Must(c.AddMenu(t.Context(), cook, branchID, "Buổi sáng"))(t)
		v := draft(t, s, 70000)
		got, err := c.MenusOf(t.Context(), cook, 0)
		want := []catalog.Menu{
			{ID: menuID, BranchID: branchID, Name: "Thực đơn cả ngày", Published: versionID, Drafts: 1},
			{ID: m.ID, BranchID: branchID, Name: "Buổi sáng"},
		}
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("menus (-want +got):\n%s, error %v", d, err)
		}
		page, total, err := c.Versions(t.Context(), cook, menuID, 1, 0)
		if err != nil || total != 2 || len(page) != 1 || page[0] != v {
			t.Errorf("%+v of %d, %v", page, total, err)
		}
		empty := testenv.Must(s.Draft(t.Context(), cook, m.ID, now))(t)
		if _, lines, err := c.Lines(t.Context(), cook, empty.ID); err != nil || len(lines) != 0 {
			t.Errorf("a new menu begins with %v, %v", lines, err)
		}
		_, byOther := c.AddMenu(t.Context(), otherBranchActor, branchID, "x")
		_, listed := c.MenusOf(t.Context(), otherBranchActor, branchID)
		_, _, versions := c.Versions(t.Context(), otherBranchActor, menuID, 1, 0)
		_, _, lines := c.Lines(t.Context(), otherBranchActor, v.ID)
		_, preview := c.Preview(t.Context(), otherBranchActor, v.ID)
		_, line := c.AddLine(t.Context(), otherBranchActor, v.ID, 4, catalog.Entry{})
		for name, p := range map[string]struct{ got, want error }{
			"add": {byOther, catalog.ErrBranch}, "list": {listed, catalog.ErrBranch}, "versions": {versions, catalog.ErrMenu},
			"lines": {lines, catalog.ErrVersion}, "preview": {preview, catalog.ErrVersion}, "put": {line, catalog.ErrVersion},
			"remove":  {c.RemoveLine(t.Context(), otherBranchActor, v.ID, item), catalog.ErrVersion},
			"discard": {c.Discard(t.Context(), otherBranchActor, v.ID), catalog.ErrVersion},
		} {
			if !errors.Is(p.got, p.want) {
				t.Errorf("%s by an actor of another branch: %v", name, p.got)
			}
		}
	})
}

func TestStore_lines_of_a_draft(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		c := menuEditor(s)
		v := draft(t, s, 70000)
		items := func() (ids []int64) {
			t.Helper()
			_, lines := testenv.Must2(c.Lines(t.Context(), cook, v.ID))(t)
			for _, l := range lines {
				if l.CategoryID == 1 {
					ids = append(ids, l.ItemID)
				}
			}
			return ids
		}
		before := items() // 11, 12, 13
		d := testenv.Must(dishService(s, now).PutDish(t.Context(), cook, 0,
			catalog.DishEdit{CategoryID: new(int64(1)), Names: soup}))(t)
		l, err := c.AddLine(t.Context(), cook, v.ID, d.ID, catalog.Entry{Price: 9000, Quota: new(int64(3)), Active: true})
		if err != nil || l.DishID != d.ID || l.Price != 9000 || *l.Quota != 3 || !l.Active {
			t.Fatalf("AddLine = %+v, %v, want an active line of the dish for 9000 with quota 3", l, err)
		}
		if diff := cmp.Diff(append(slices.Clone(before), l.ItemID), items()); diff != "" {
			t.Errorf("items after a new line, which comes last (-want +got):\n%s", diff)
		}
		again, err := c.AddLine(t.Context(), cook, v.ID, d.ID, catalog.Entry{Price: 9500, Sort: new(int64(0))})
		if err != nil || again.ItemID != l.ItemID || again.Price != 9500 {
			t.Errorf("AddLine again = %+v, %v, want the same item for 9500", again, err)
		}
		if diff := cmp.Diff(append([]int64{l.ItemID}, before...), items()); diff != "" {
			t.Errorf("items after a line put in front (-want +got):\n%s", diff)
		}
		// An entry without a position keeps its position.
		testenv.NoError(t, s.EditDraft(t.Context(), cook, v.ID, l.ItemID,
			catalog.Entry{Price: 8000, Quota: new(int64(2)), Active: true}, now))
		testenv.Equal(t, l.ItemID, items()[0])
		b := testenv.Must(c.Preview(t.Context(), cook, v.ID))(t)
		shown, _ := b.Item(l.ItemID)
		if left, limited := b.Left(l.ItemID); shown.Price != 8000 || left != 2 || !limited || b.Date != "2026-02-26" {
			t.Errorf("the preview shows %+v, %d left on %s", shown, left, b.Date)
		}
		testenv.NoError(t, c.RemoveLine(t.Context(), cook, v.ID, item))
		if slices.Contains(items(), item) {
			t.Error("the removed item is still there")
		}
		_, noDish := c.AddLine(t.Context(), cook, v.ID, 999, catalog.Entry{})
		_, published := c.AddLine(t.Context(), cook, versionID, 4, catalog.Entry{})
		for name, p := range map[string]struct{ got, want error }{
			"removed twice": {c.RemoveLine(t.Context(), cook, v.ID, item), catalog.ErrItem}, "no dish": {noDish, catalog.ErrDish},
			"put on a published": {published, catalog.ErrNotDraft},
			"off a published":    {c.RemoveLine(t.Context(), cook, versionID, item), catalog.ErrNotDraft},
			"discard published":  {c.Discard(t.Context(), cook, versionID), catalog.ErrNotDraft},
			"no version":         {c.Discard(t.Context(), cook, 999), catalog.ErrVersion},
		} {
			if !errors.Is(p.got, p.want) {
				t.Errorf("%s: error %v, want %v", name, p.got, p.want)
			}
		}
		testenv.NoError(t, c.Discard(t.Context(), cook, v.ID))
		if _, _, err := c.Lines(t.Context(), cook, v.ID); !errors.Is(err, catalog.ErrVersion) {
			t.Errorf("a discarded draft: error %v, want ErrVersion", err)
		}
		if it, _ := content(t, s).Edition.Item(item); it.Price != 65000 {
			t.Errorf("the published menu changed: %+v", it)
		}
	})
}

func TestStore_ChangeBranch(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		at := now
		clock := func() time.Time { return at }
		h := &catalog.BranchAdmin{Store: s, Menus: catalog.NewMenuCache(s, catalog.NoSharedCache{}, clock), Now: clock}
		before := content(t, s)
		b, err := h.Edit(t.Context(), cook, branchID, catalog.BranchEdit{
			Name: new("Phố cổ"), Locales: []catalog.Locale{catalog.English}, DayStart: new(5), AutoClose: new(time.Hour), Open: new(false),
		})
		stored, read := h.Branch(t.Context(), cook, branchID)
		if err != nil || read != nil || stored.Name != "Phố cổ" || stored.DayStart != 5 || stored.AutoClose != time.Hour || stored.Open ||
			len(stored.Locales) != 1 || stored.Name != b.Name || content(t, s).Revision <= before.Revision {
			t.Errorf("stored branch = %+v, errors %v and %v, want the edited one", stored, err, read)
		}
		testenv.Must(h.Pause(t.Context(), cook, branchID, catalog.Pause{Texts: soup},
			catalog.Until{At: now.Add(time.Hour)}))(t)
		stored, _ = h.Branch(t.Context(), cook, branchID)
		want := &catalog.Pause{Texts: soup, Since: now, Until: now.Add(time.Hour), By: "user:9"}
		if d := cmp.Diff(want, stored.Paused(now)); d != "" || stored.Paused(now.Add(time.Hour)) != nil {
			t.Error(d)
		}
		at = now.Add(time.Minute)
		testenv.Must(h.Pause(t.Context(), cook, branchID, catalog.Pause{Code: catalog.PauseBusy},
			catalog.Until{DayEnd: true}))(t)
		stored, _ = h.Branch(t.Context(), cook, branchID)
		if p := stored.Pause; p.Code != catalog.PauseBusy || len(p.Texts) != 0 || !p.Since.Equal(now) || p.Until.Hour() != 22 {
			t.Errorf("pause = %+v, want BUSY until 22:00", p)
		}
		if b, err = h.Resume(t.Context(), cook, branchID); err != nil || b.Pause != nil {
			t.Errorf("Resume = %+v, %v, want no pause", b.Pause, err)
		}
		if stored, _ = h.Branch(t.Context(), cook, branchID); stored.Pause != nil {
			t.Errorf("stored pause = %+v, want none", stored.Pause)
		}
		_, edited := h.Edit(t.Context(), otherBranchActor, branchID, catalog.BranchEdit{Open: new(true)})
		_, paused := h.Pause(t.Context(), otherBranchActor, branchID, catalog.Pause{Code: catalog.PauseBusy}, catalog.Until{})
		_, resumed := h.Resume(t.Context(), authz.Actor{}, branchID)
		_, seen := h.Branch(t.Context(), otherBranchActor, branchID)
		for name, err := range map[string]error{"edit": edited, "pause": paused, "resume": resumed, "get": seen} {
			if !errors.Is(err, catalog.ErrBranch) {
				t.Errorf("%s by an actor of another branch: error %v, want ErrBranch", name, err)
			}
		}
	})
}

// Opening hours are stored whole or not at all.
func TestStore_ChangeBranch_hours(t *testing.T) {
	each(t, func(t *testing.T, _ *sqldb.DB, s *catalogsql.Store) {
		clock := func() time.Time { return now }
		h := &catalog.BranchAdmin{Store: s, Menus: catalog.NewMenuCache(s, catalog.NoSharedCache{}, clock), Now: clock}
		hours := catalog.OpeningHours{
			Weekly:     map[catalog.Weekday][]catalog.Period{"fri": {{From: "17:00", To: "01:00"}}},
			Exceptions: []catalog.HoursException{{Date: "2026-12-25", Periods: []catalog.Period{}, Note: "Giáng sinh"}},
		}
		b, err := h.Edit(t.Context(), cook, branchID, catalog.BranchEdit{Hours: &hours})
		if err != nil || b.OpenAt(now) {
			t.Errorf("open at %v, %v", now, err)
		}
		stored, err := h.Branch(t.Context(), cook, branchID)
		if err != nil || !cmp.Equal(stored.Hours, hours) || stored.OpensAt(now).IsZero() {
			t.Errorf("stored hours = %+v, want those of the edit", stored.Hours)
		}
		wrong := catalog.OpeningHours{Weekly: map[catalog.Weekday][]catalog.Period{"fri": {{From: "x"}}}}
		if _, err = h.Edit(t.Context(), cook, branchID, catalog.BranchEdit{Hours: &wrong}); err == nil {
			t.Error("wrong opening hours are stored")
		}
		b, err = h.Edit(t.Context(), cook, branchID, catalog.BranchEdit{Hours: &catalog.OpeningHours{}})
		if err != nil || !b.Hours.Empty() || !b.OpenAt(now) {
			t.Errorf("Edit = %+v, %v, want no hours and an open branch", b.Hours, err)
		}
	})
}
