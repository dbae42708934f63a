package cataloghttp

import (
	"net/http/httptest"
	"strings"
	"testing"

	"comanda/internal/testenv"

	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/httpapi"
)

const topping = `{"min":0,"max":null,"free":0,"maxEach":2,"credit":false,"defaultsCharge":true,` +
	`"options":[{"optionId":"{option}","price":9000,"isDefault":true,"isActive":true}]`

// A group is created with an option, set on dishes of a draft, published, and seen by guests; then its option is taken off.
func TestConsole_from_option_to_menu(t *testing.T) {
	s := newConsole(t)
	group := decode[optionGroupInfo](t, s.asService(t, "POST", "/api/option-groups", `{"kind":"CHOICE","names":{"en":"Herbs","vi":"Rau"},"note":"cold"}`), 201)
	option := decode[optionInfo](t, s.asService(t, "POST", "/api/option-groups/"+group.ID+"/options",
		`{"names":{"en":"Basil"},"shortName":"BAS"}`), 201)
	if group.Kind != catalog.ChoiceGroup || group.Note != "cold" || option.ShortName != "BAS" || option.DishID != nil || option.Retired {
		t.Errorf("group %+v with option %+v, want a CHOICE with BAS", group, option)
	}
	edited := decode[optionInfo](t, s.asService(t, "PATCH", "/api/options/"+option.ID, `{"names":{"en":"Thai basil"}}`), 200)
	renamed := decode[optionGroupInfo](t, s.asService(t, "PATCH", "/api/option-groups/"+group.ID, `{"note":""}`), 200)
	if edited.Names[catalog.English] != "Thai basil" || edited.ShortName != "BAS" || renamed.Note != "" || renamed.Names[catalog.Vietnamese] != "Rau" {
		t.Errorf("edited to %+v and %+v, want only the sent fields changed", edited, renamed)
	}
	settings := strings.ReplaceAll(topping, "{option}", option.ID)
	draft := decode[Version](t, s.asService(t, "POST", "/api/menus/1/versions", ""), 201)
	at := "/api/menu-versions/" + draft.ID
	set := decode[line](t, s.asService(t, "PUT", at+"/items/11/groups", `{"groups":[{"groupId":"`+group.ID+`",`+settings[1:]+`}]}`), 200)
	want := lineGroup{
		GroupID: group.ID, Kind: catalog.ChoiceGroup, Names: group.Names, MaxEach: 2, DefaultsCharge: true,
		Options: []lineOption{{OptionID: option.ID, Names: edited.Names, Price: 9000, IsDefault: true, IsActive: true}},
	}
	testenv.Equal(t, []lineGroup{want}, set.Groups)
	if n := decode[attached](t, s.asService(t, "POST", at+"/groups/"+group.ID+"/attach", `{"itemIds":["12","13"],"settings":`+settings+`}}`), 200); n.Items != 2 {
		t.Errorf("attached to %d dishes, want 2", n.Items)
	}
	wantStatus(t, s.asService(t, "PUT", at+"/items/11/groups", `{"groups":[{"groupId":"999",`+settings[1:]+`}]}`), 404, "option_group_not_found")
	broken := strings.Replace(settings, `"min":0`, `"min":3`, 1)
	decode[line](t, s.asService(t, "PUT", at+"/items/14/groups", `{"groups":[{"groupId":"`+group.ID+`",`+broken[1:]+`}]}`), 200)
	refused := s.asService(t, "POST", at+"/publish", "")
	wantStatus(t, refused, 409, "version_incomplete")
	if problem := `"problems":[{"itemId":"14","groupId":"` + group.ID + `","code":"min_above_active"}]`; !strings.Contains(refused.Body.String(), problem) {
		t.Errorf("publish answers %s, want %s", refused.Body, problem)
	}
	decode[line](t, s.asService(t, "PUT", at+"/items/14/groups", `{"groups":[]}`), 200)
	shown := `"groups":[{"id":"` + group.ID + `","kind":"CHOICE","name":"Herbs","min":0,"max":null,"free":0,"maxEach":2,"credit":false,` +
		`"defaultsCharge":true,"options":[{"id":"` + option.ID + `","name":"Thai basil","price":9000,"isDefault":true,"isAvailable":`
	if preview := s.asService(t, "GET", at+"/preview?locale=en", ""); !strings.Contains(preview.Body.String(), shown+"true") {
		t.Errorf("the preview is %s, want %s", preview.Body, shown)
	}
	decode[Version](t, s.asService(t, "POST", at+"/publish", ""), 200)
	s.expireMenus()
	guests := func() *httptest.ResponseRecorder {
		return s.ask(t, "POST", "/cis/menu/active?locale=en", `{"branchId":"1"}`)
	}
	testenv.Equal(t, 3, strings.Count(guests().Body.String(), shown+"true"))
	list := decode[httpapi.Listed[optionGroupInfo]](t, s.asService(t, "GET", "/api/option-groups?q=herb", ""), 200)
	if list.Total != 1 || list.Items[0].UsedBy != 3 || len(list.Items[0].Options) != 1 {
		t.Errorf("the library lists %+v, want one group on 3 dishes", list)
	}
	wantStatus(t, s.asService(t, "DELETE", "/api/option-groups/"+group.ID, ""), 409, "option_group_in_use")
	wantStatus(t, s.asService(t, "DELETE", "/api/options/"+option.ID, ""), 409, "option_in_use")

	off := decode[offOption](t, s.asService(t, "POST", "/api/branches/1/options/"+option.ID+"/off", `{"until":"END_OF_DAY"}`), 200)
	if off.OptionID != option.ID || off.By != "service" || off.Until != "2026-02-26T21:00:00Z" {
		t.Errorf("taken off as %+v, want by the service until the end of the day", off)
	}
	s.expireMenus()
	if n := strings.Count(guests().Body.String(), shown+"false"); n != 3 {
		t.Errorf("%d dishes show that basil is off, want 3", n)
	}
	page := decode[branchAvailability](t, s.asService(t, "GET", "/api/branches/1/availability", ""), 200)
	var states []optionAvailability
	for _, o := range page.Options {
		if o.OptionID == option.ID {
			states = append(states, o)
		}
	}
	if len(states) != 1 || states[0].IsAvailable || *states[0].OffUntil != off.Until || states[0].GroupNames[catalog.English] != "Herbs" {
		t.Errorf("availability lists %+v, want basil once, off until %s", states, off.Until)
	}
	decode[restoredOption](t, s.asService(t, "POST", "/api/branches/1/options/"+option.ID+"/on", ""), 200)
	s.expireMenus()
	if n := strings.Count(guests().Body.String(), shown+"true"); n != 3 {
		t.Errorf("%d dishes offer basil again, want 3", n)
	}
	wantStatus(t, s.asService(t, "POST", "/api/branches/1/options/999/off", `{"until":"RESTORED"}`), 404, "option_not_found")
	wantStatus(t, s.asService(t, "POST", "/api/branches/9/options/"+option.ID+"/off", `{"until":"RESTORED"}`), 404, "branch_not_found")
}

// Phones that follow the menu receive which options cannot be ordered.
func TestLive_options(t *testing.T) {
	s := newSite(t)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	it := catalogtest.Item(12, 1000)
	it.Groups = []catalog.OptionGroup{{ID: 1, Kind: catalog.ChoiceGroup, Min: 1, MaxEach: 1, Options: []catalog.MenuOption{{ID: 7}, {ID: 8}}}}
	put := func(revision int64, off ...int64) {
		c := catalogtest.Content(6, nil, it)
		c.Revision, c.OffOptions = revision, off
		s.source.Put(catalogtest.Branch(), c)
		s.expireMenus()
	}
	put(6)
	l := openLive(t, server.URL, "")
	const state = `{"menuVersionId":"6","bizDate":"2026-02-26","complete":`
	const quiet = `,"isPaused":false,"isClosed":false,"cartVersion":null,"items":[{"itemId":"12","isActive":true,"isSoldOut":`
	l.want(state + `true` + quiet + `false,"remaining":null}]}`)
	put(7, 8)
	l.want(state + `false` + quiet + `false,"remaining":null,"soldOutOptions":["8"]}]}`)
	put(8, 7, 8)
	l.want(state + `false` + quiet + `true,"remaining":0,"soldOutOptions":["7","8"]}]}`)
}
