package visit_test

import (
	"testing"

	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/testenv"
	"comanda/internal/visit"
)

// An actor of another branch gets not-found errors and changes nothing.
func TestFloor_hides_other_branches(t *testing.T) {
	each(t, func(h *fixture) {
		l, code := h.scan(3, ""), h.qr(3)
		otherBranchActor := authz.Actor{Kind: authz.Account, UserID: 7, Branches: []int64{2}}
		_, rotate := h.floor.RotateQR(t.Context(), otherBranchActor, 3)
		_, closing := h.floor.Close(t.Context(), otherBranchActor, l.VisitID)
		_, tables := h.floor.Tables(t.Context(), otherBranchActor, 1)
		_, _, visits := h.floor.Visits(t.Context(), otherBranchActor, visit.Filter{Branch: 1, Limit: 10})
		testenv.ErrorIs(t, visit.ErrTable, rotate, "rotate")
		testenv.ErrorIs(t, visit.ErrVisit, closing, "close")
		testenv.ErrorIs(t, catalog.ErrBranch, tables, "tables")
		testenv.ErrorIs(t, catalog.ErrBranch, visits, "visits")
		all, err := h.floor.Tables(t.Context(), otherBranchActor, 0)
		if err != nil || len(all) != 6 || all[0].BranchID != 2 {
			t.Errorf("Tables = %v, %v, want the six of branch 2", all, err)
		}
		if h.qr(3) != code || len(h.openVisits()) != 1 {
			t.Error("an actor of another branch changed something")
		}
		audit, err := auditsql.Verify(t.Context(), h.db)
		if err != nil || audit.Entries != 0 {
			t.Errorf("Verify = %+v, %v, want no entry", audit, err)
		}
	})
}

// Changes by staff are in the audit log; automatic changes and calls without effect are not.
func TestFloor_audit(t *testing.T) {
	each(t, func(h *fixture) {
		l := h.scan(3, "")
		h.close(l.VisitID)
		h.close(l.VisitID)
		h.scan(3, "")
		testenv.Must(h.floor.RotateQR(t.Context(), authz.System(), 3))(t)
		h.scan(4, "")
		h.clock.Advance(catalog.MaxAutoClose)
		testenv.Equal(t, 1, testenv.Must(h.floor.CloseIdle(t.Context(), h.clock.Now(), 10))(t))
		audit, err := auditsql.Verify(t.Context(), h.db)
		if err != nil || audit.Entries != 2 || len(audit.Broken) != 0 {
			t.Errorf("Verify = %+v, %v, want an unbroken chain of two entries", audit, err)
		}
	})
}
