package visithttp_test

import (
	"fmt"
	"strings"
	"testing"

	"comanda/internal/testenv"
	"comanda/internal/visit"
)

// placed is a table with its place on the plan.
type placed struct {
	Label      string
	PlanColumn *int
	PlanRow    *int
	Shape      string
}

func TestStaff_plan(t *testing.T) {
	s := newSite(t)
	save := func(body string, into any) string {
		t.Helper()
		w := s.ask(t, "PUT", "/api/branches/1/floor-plan", body, "", into)
		if w.Code != 200 {
			t.Errorf("PUT of plan %s: status %d with body %s, want 200", body, w.Code, w.Body)
		}
		return w.Body.String()
	}
	edit := func(id int, column, row, shape string) string {
		return fmt.Sprintf(`{"tableId":"%d","planColumn":%s,"planRow":%s,"shape":"%s"}`, id, column, row, shape)
	}
	tables := func(edits ...string) string { return `{"tables":[` + strings.Join(edits, ",") + `]}` }
	off := make([]string, 6)
	for i := range off {
		off[i] = edit(i+1, "null", "null", "SQUARE")
	}
	save(tables(off...), nil)

	var saved, listed struct {
		Items []placed
		Total int
	}
	save(tables(edit(3, "4", "0", "ROUND"), edit(4, "5", "0", "WIDE")), &saved)
	s.ask(t, "GET", "/api/tables?branchId=1", "", "", &listed)
	want := []placed{{Label: "A3", PlanColumn: new(4), PlanRow: new(0), Shape: "ROUND"}, {Label: "A4", PlanColumn: new(5), PlanRow: new(0), Shape: "WIDE"}}
	testenv.Equal(t, want, listed.Items[2:4])
	testenv.Equal(t, listed.Items, saved.Items)
	if free := listed.Items[0]; saved.Total != 6 || free.PlanColumn != nil || free.PlanRow != nil || free.Shape != "SQUARE" {
		t.Errorf("%d tables, %+v", saved.Total, free)
	}

	many := make([]string, visit.MaxPlanEdits+1)
	for i := range many {
		many[i] = edit(i+1, "null", "null", "SQUARE")
	}
	for body, c := range map[string]struct {
		status int
		code   string
	}{
		tables(edit(5, "6", "0", "SQUARE")):                              {409, "plan_place_taken"},
		tables(edit(5, "29", "19", "WIDE")):                              {422, "plan_place_invalid"},
		tables(edit(5, "1", "null", "SQUARE")):                           {422, "plan_place_invalid"},
		tables(edit(5, "1", "1", "SQUARE"), edit(5, "2", "1", "SQUARE")): {422, "plan_table_twice"},
		tables(edit(7, "1", "1", "SQUARE")):                              {404, "table_not_found"},
		tables(edit(5, "30", "0", "SQUARE")):                             {422, "invalid"},
		tables(edit(5, "0", "20", "SQUARE")):                             {422, "invalid"},
		tables(edit(5, "-1", "0", "SQUARE")):                             {422, "invalid"},
		tables(edit(5, "1", "1", "STAR")):                                {422, "invalid"},
		tables(`{"tableId":"5","shape":"SQUARE"}`):                       {422, "invalid"},
		tables():        {422, "invalid"},
		tables(many...): {422, "invalid"},
	} {
		wantStatus(t, s.ask(t, "PUT", "/api/branches/1/floor-plan", body, "", nil), c.status, c.code)
	}
	wantStatus(t, s.ask(t, "PUT", "/api/branches/9/floor-plan", tables(edit(5, "1", "1", "SQUARE")), "", nil), 404, "branch_not_found")

	var edited placed
	s.ask(t, "PATCH", "/api/tables/3", `{"section":"Terrace"}`, "", &edited)
	testenv.Equal(t, placed{Label: "A3", Shape: "ROUND"}, edited)
}
