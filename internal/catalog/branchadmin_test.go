package catalog

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/fault"
	"comanda/internal/money"
	"comanda/internal/testenv"
)

func testBranch(t *testing.T) Branch {
	t.Helper()
	return testenv.Must(NewBranch(Branch{
		ID: 1, Name: "Hà Nội", Currency: money.VND, Timezone: "Asia/Ho_Chi_Minh", DayStart: 4,
		Locales: []Locale{Vietnamese, English}, AutoClose: time.Hour, Open: true,
	}))(t)
}

func TestBranchEdit_apply(t *testing.T) {
	b := testBranch(t)
	noon := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC) // in Hà Nội
	atFive := noon.Add(17 * time.Hour)                   // the 27th started at four
	for name, c := range map[string]struct {
		edit BranchEdit
		now  time.Time
		code string // empty for success
	}{
		"nothing":                {BranchEdit{}, noon, ""},
		"a later start at noon":  {BranchEdit{DayStart: new(6)}, noon, ""},
		"midnight at noon":       {BranchEdit{DayStart: new(0)}, noon, ""},
		"a later start at five":  {BranchEdit{DayStart: new(6)}, atFive, "biz_day_running"},
		"a start behind the now": {BranchEdit{DayStart: new(13)}, noon, "biz_day_running"},
		"no such hour":           {BranchEdit{DayStart: new(24)}, noon, "invalid"},
		"no name":                {BranchEdit{Name: new("")}, noon, "invalid"},
		"a long name":            {BranchEdit{Name: new(strings.Repeat("x", MaxName+1))}, noon, "invalid"},
		"no locale of ours":      {BranchEdit{Locales: []Locale{"xx"}}, noon, "invalid"},
		"no locale at all":       {BranchEdit{Locales: []Locale{}}, noon, "invalid"},
		"a locale twice":         {BranchEdit{Locales: []Locale{English, English}}, noon, "invalid"},
		"closed too soon":        {BranchEdit{AutoClose: new(time.Second)}, noon, "invalid"},
		"a sender":               {BranchEdit{MailFrom: new("Quán Hoa <hoa@house.example>")}, noon, ""},
		"no sender":              {BranchEdit{MailFrom: new("")}, noon, ""},
		"a sender of two":        {BranchEdit{MailFrom: new("a@b.example, c@d.example")}, noon, "mail_from_invalid"},
		"a sender and a header":  {BranchEdit{MailFrom: new("a@b.example\r\nBcc: c@d.example")}, noon, "mail_from_invalid"},
		"a name without address": {BranchEdit{MailFrom: new("Quán Hoa")}, noon, "mail_from_invalid"},
		"everything": {BranchEdit{
			Name: new("Huế"), Locales: []Locale{Thai}, DayStart: new(5), AutoClose: new(time.Minute), Open: new(false),
		}, noon, ""},
	} {
		got, err := c.edit.apply(b, c.now)
		if code := codeOf(err); code != c.code {
			t.Errorf("apply with %s: error %v, want code %q", name, err, c.code)
		}
		if err == nil && got.Calendar().BizDate(c.now) != b.Calendar().BizDate(c.now) {
			t.Errorf("%s: the business date changed", name)
		}
	}
	got, _ := BranchEdit{Name: new("Huế"), Open: new(false), SharedCart: new(true)}.apply(b, noon)
	if got.Name != "Huế" || got.Open || !got.SharedCart || b.SharedCart || got.DayStart != b.DayStart || b.Name != "Hà Nội" {
		t.Errorf("%+v of %+v", got, b)
	}
}

// Names from the command line and set-up files have not been checked before, as those of requests have.
func TestBranch_names_are_one_line(t *testing.T) {
	for name, want := range map[string]string{
		" Huế ": "Huế", "a\nb": "must be a single line", "a\u202eb": "direction", "a\x1b[31m": "control characters", "a\xff": "UTF-8",
	} {
		made, err := NewBranchRequest{Name: name, Country: "VN"}.Branch()
		edited, editErr := BranchEdit{Name: &name}.apply(testBranch(t), time.Now())
		if want == "Huế" {
			if made.Name != want || edited.Name != want || err != nil || editErr != nil {
				t.Errorf("%q: %q, %v and %q, %v, want %q", name, made.Name, err, edited.Name, editErr, want)
			}
			continue
		}
		for _, err := range []error{err, editErr} {
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Invalid || !strings.Contains(f.Detail, want) {
				t.Errorf("%q: error %v, want a refusal with %q", name, err, want)
			}
		}
	}
}

// The first order fixes the currency, the time zone and the start of the business day.
func TestBranchEdit_after_the_first_order(t *testing.T) {
	noon := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	b := testBranch(t)
	for field, e := range map[string]BranchEdit{
		"country":         {Country: new(Country("TW"))},
		"currency":        {Currency: new(money.USD)},
		"timezone":        {Timezone: new("America/New_York")},
		"bizDayStartHour": {DayStart: new(5)},
	} {
		b.Country, b.HasOrders = "VN", false
		if _, err := e.apply(b, noon); err != nil {
			t.Errorf("%s before the first order: %v", field, err)
		}
		b.HasOrders = true
		_, err := e.apply(b, noon)
		if f, ok := errors.AsType[*fault.Error](err); !ok || !errors.Is(err, ErrBranchHasOrders) || f.Extra["field"] != field {
			t.Errorf("apply with another %s: error %v, want branch_has_orders of that field", field, err)
		}
	}
	same := BranchEdit{Country: new(Country("VN")), Currency: &b.Currency, Timezone: &b.Timezone, DayStart: &b.DayStart}
	if _, err := same.apply(b, noon); err != nil {
		t.Errorf("the same values: %v", err)
	}
	b.Country = ""
	if got, err := same.apply(b, noon); err != nil || got.Country != "VN" {
		t.Errorf("a country that was not stated: %+v, %v", got, err)
	}
	testenv.ErrorIs(t, ErrCountry, testenv.Err((BranchEdit{Country: new(Country("XX"))}).apply(b, noon)), "no country")
}

// A wrong value is named, also where the first order has fixed the field.
func TestBranchEdit_wrong_value_after_the_first_order(t *testing.T) {
	b := testBranch(t)
	b.Country, b.HasOrders = "VN", true
	for want, e := range map[string]BranchEdit{
		"not 25":    {DayStart: new(25)},
		`"QQQ"`:     {Currency: new(money.Currency("QQQ"))},
		"Asia/Hano": {Timezone: new("Asia/Hano")},
	} {
		_, err := e.apply(b, time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC))
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Invalid || !strings.Contains(f.Detail, want) {
			t.Errorf("apply: error %v, want a refusal with %s", err, want)
		}
	}
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.PublicCode()
	}
	return err.Error()
}

func TestPause_check(t *testing.T) {
	now := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	texts := Texts{English: "Power cut"}
	for name, c := range map[string]struct {
		pause Pause
		ok    bool
	}{
		"a code":               {Pause{Code: PauseBusy}, true},
		"texts until tomorrow": {Pause{Texts: texts, Until: now.Add(24 * time.Hour)}, true},
		"no reason":            {Pause{}, false},
		"two reasons":          {Pause{Code: PauseBusy, Texts: texts}, false},
		"no code of ours":      {Pause{Code: "TIRED"}, false},
		"a long text":          {Pause{Texts: Texts{English: strings.Repeat("x", maxReason+1)}}, false},
		"an unknown language":  {Pause{Texts: Texts{"xx": "x"}}, false},
		"over already":         {Pause{Code: PauseBusy, Until: now}, false},
		"for a year":           {Pause{Code: PauseBusy, Until: now.AddDate(1, 0, 0)}, false},
	} {
		if err := c.pause.check(now); (err == nil) != c.ok {
			t.Errorf("check with %s: error %v, want success %t", name, err, c.ok)
		}
	}
}

func TestBranch_Paused(t *testing.T) {
	now := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	b := testBranch(t)
	if b.Paused(now) != nil {
		t.Error("a branch without a pause is paused")
	}
	b.Pause = &Pause{Code: PauseStaff, Until: now.Add(time.Minute)}
	if b.Paused(now) != b.Pause || b.Paused(now.Add(time.Minute)) != nil {
		t.Error("the pause did not end at Until")
	}
	var f *fault.Error
	if err := b.Pause.Refusal(); !errors.As(err, &f) || !errors.Is(err, ErrPaused) {
		t.Fatal(err)
	}
	want := map[string]any{"reasonCode": "STAFF", "reasons": Texts(nil), "until": now.Add(time.Minute)}
	testenv.Equal(t, want, f.Extra)
	b.Pause = &Pause{Texts: Texts{English: "Power cut"}}
	if b.Paused(now.AddDate(1, 0, 0)) != b.Pause {
		t.Error("a pause without an end has ended")
	}
	if !errors.As(b.Pause.Refusal(), &f) || f.Extra["until"] != nil || f.Extra["reasonCode"] != nil {
		t.Errorf("refusal without texts: %v, want neither until nor reasonCode", f.Extra)
	}
}

func TestParseUntil(t *testing.T) {
	b := testBranch(t)
	now := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"RESTORED": {}, "END_OF_DAY": time.Date(2026, 2, 26, 21, 0, 0, 0, time.UTC),
		"2026-02-26T13:00:00+07:00": time.Date(2026, 2, 26, 6, 0, 0, 0, time.UTC),
	} {
		u := testenv.Must(ParseUntil(text))(t)
		if at, err := u.Instant(b.Calendar(), now); !at.Equal(want) || err != nil {
			t.Errorf("%s is %v, %v", text, at, err)
		}
	}
	for _, text := range []string{"", "restored", "tomorrow", "2026-02-26", "0001-01-01T00:00:00Z"} {
		if u, err := ParseUntil(text); err == nil {
			t.Errorf("%q is %+v", text, u)
		}
	}
	for _, text := range []string{"2026-02-26T05:00:00Z", "2026-04-26T05:00:00Z"} {
		u := testenv.Must(ParseUntil(text))(t)
		if at, err := u.Instant(b.Calendar(), now); err == nil {
			t.Errorf("%s is accepted as %v", text, at)
		}
	}
}

// An item whose Until is within a business day is off at the start of that day; one whose Until is the start of a day is not.
func TestOffItem_LastDate(t *testing.T) {
	c := testBranch(t).Calendar()
	start := time.Date(2026, 2, 26, 21, 0, 0, 0, time.UTC) // start of the 27th
	for until, want := range map[time.Time]string{
		start: "2026-02-26", start.Add(time.Millisecond): "2026-02-27", {}: forever,
	} {
		if got := (OffItem{Until: until}).LastDate(c); got != want {
			t.Errorf("until %v: %s, want %s", until, got, want)
		}
	}
}

func TestCountedMenu_Left(t *testing.T) {
	edition := NewEdition(1, 1, nil, []Item{{ID: 1}, {ID: 2}, {ID: 3}, {ID: 4}, {ID: 5}})
	menu := &LiveMenu{
		Snapshot: &Snapshot{Edition: edition, Quotas: map[int64]int64{2: 9}}, left: map[int64]int64{3: 2, 4: 8, 5: 5},
	}
	c := &CountedMenu{LiveMenu: menu, Counters: map[int64]Counter{
		2: {Item: 2, Cap: new(int64(9)), Held: 4, Used: 9}, 3: {Item: 3, Cap: new(int64(20)), Used: 1},
		4: {Item: 4, Cap: new(int64(8)), Held: 3}, 5: {Item: 5},
	}, OffItems: map[int64]OffItem{5: {Item: 5}}}
	for item, want := range map[int64]*int64{
		1: nil,           // unlimited
		2: new(int64(0)), // a cap below the sales
		3: new(int64(2)), // limited by stock
		4: new(int64(5)), // the level is older than the counter
		5: new(int64(0)), // off
	} {
		if d := cmp.Diff(want, c.Left(item)); d != "" {
			t.Errorf("item %d (-want +got):\n%s", item, d)
		}
	}
}

func TestImageURL(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	if url := ImageURL(id); ImageIDOf(url) != id || url != "/media/"+id+"-960.jpg" || ImageURL("") != "" {
		t.Error(url)
	}
	for _, url := range []string{"", "/media/4", "/media/" + id + "-320.jpg", "/media/../" + id + "-960.jpg", "https://x/" + id + "-960.jpg"} {
		if got := ImageIDOf(url); got != "" {
			t.Errorf("%s is %s", url, got)
		}
	}
}

func TestCategoryEdit_and_DishEdit(t *testing.T) {
	names, long := Texts{English: "Soup"}, Texts{English: strings.Repeat("x", MaxDescription+1)}
	if _, err := (CategoryEdit{Sort: new(int64(-1)), Names: names}).apply(Category{}); err == nil {
		t.Error("a negative position was accepted")
	}
	if _, err := (CategoryEdit{Names: names, Descriptions: long}).apply(Category{}); err == nil {
		t.Error("a description that is too long was accepted")
	}
	if _, err := (DishEdit{Names: Texts{"xx": "Soup"}}).apply(Dish{}); err == nil {
		t.Error("a name in an unsupported locale was accepted")
	}
	testenv.ErrorIs(t, ErrDishRetired, testenv.Err((DishEdit{Names: names}).apply(Dish{Retired: true})), "a retired dish")
	before := Dish{ID: 4, CategoryID: 1, Names: names, Descriptions: names, ImageURL: "/media/4"}
	d, err := (DishEdit{CategoryID: new(int64(2))}).apply(before)
	want := before
	want.CategoryID = 2
	if diff := cmp.Diff(want, d); diff != "" || err != nil {
		t.Errorf("dish after an edit without fields (-want +got):\n%s, error %v", diff, err)
	}
}

// Every profile makes a valid branch in each of its time zones.
func TestCountryProfiles(t *testing.T) {
	seen := map[Country]bool{}
	for _, p := range CountryProfiles() {
		if seen[p.Country] || !p.Country.Valid() {
			t.Errorf("%s is listed twice or no country", p.Country)
		}
		seen[p.Country] = true
		for _, zone := range p.Timezones {
			b, err := NewBranchRequest{Name: "Hoa", Country: p.Country, Timezone: zone}.Branch()
			if err != nil || b.Timezone != zone || b.Currency != p.Currency {
				t.Errorf("%s in %s: %+v, %v", p.Country, zone, b, err)
			}
		}
	}
	for _, c := range []Country{"VN", "TW", "JP", "US", "DE", "FR", "TH", "SA"} {
		if !seen[c] {
			t.Errorf("%s has no profile", c)
		}
	}
}

func TestCountry_Valid(t *testing.T) {
	for c, want := range map[Country]bool{
		"VN": true, "GB": true, "KR": true, "": false, "vn": false, "VNM": false, "UK": false, "XX": false, "ZZ": false, "EU": false,
		"001": false, "Vn": false, "V": false,
	} {
		if c.Valid() != want {
			t.Errorf("Country(%q).Valid = %t, want the opposite", c, !want)
		}
	}
}

func TestNewBranchRequest_Branch(t *testing.T) {
	vn := NewBranchRequest{Name: "Quán Hoa", Country: "VN"}
	with := func(r NewBranchRequest, change func(*NewBranchRequest)) NewBranchRequest {
		change(&r)
		return r
	}
	for name, c := range map[string]struct {
		request NewBranchRequest
		code    string // empty for success
	}{
		"by profile":           {vn, ""},
		"unknown country":      {NewBranchRequest{Name: "Hoa", Country: "XX"}, "country_unknown"},
		"no country":           {NewBranchRequest{Name: "Hoa"}, "country_unknown"},
		"several time zones":   {NewBranchRequest{Name: "Hoa", Country: "US"}, "timezone_required"},
		"one of them":          {NewBranchRequest{Name: "Hoa", Country: "US", Timezone: "America/Chicago"}, ""},
		"no profile":           {NewBranchRequest{Name: "Hoa", Country: "KR", Timezone: "Asia/Seoul"}, "currency_required"},
		"no profile, no zone":  {NewBranchRequest{Name: "Hoa", Country: "KR", Currency: money.USD}, "timezone_required"},
		"no profile, all said": {NewBranchRequest{Name: "Hoa", Country: "KR", Currency: money.USD, Timezone: "Asia/Seoul"}, ""},
		"unknown currency":     {with(vn, func(r *NewBranchRequest) { r.Currency = "KRW" }), "invalid"},
		"unknown zone":         {with(vn, func(r *NewBranchRequest) { r.Timezone = "Asia/Huế" }), "invalid"},
		"this machine's zone":  {with(vn, func(r *NewBranchRequest) { r.Timezone = "Local" }), "invalid"},
		"no name":              {with(vn, func(r *NewBranchRequest) { r.Name = "" }), "invalid"},
		"no such hour":         {with(vn, func(r *NewBranchRequest) { r.DayStart = new(24) }), "invalid"},
		"no locale of ours":    {with(vn, func(r *NewBranchRequest) { r.Locales = []Locale{"xx"} }), "invalid"},
		"a locale twice":       {with(vn, func(r *NewBranchRequest) { r.Locales = []Locale{English, English} }), "invalid"},
		"a long key":           {with(vn, func(r *NewBranchRequest) { r.ClientTxnID = string(make([]byte, maxClientID+1)) }), "invalid"},
	} {
		if _, err := c.request.Branch(); codeOf(err) != c.code {
			t.Errorf("Branch with %s: error %v, want code %q", name, err, c.code)
		}
	}
	b, err := vn.Branch()
	want := Branch{
		Name: "Quán Hoa", Country: "VN", Currency: money.VND, Timezone: "Asia/Ho_Chi_Minh", DayStart: 4,
		Locales: []Locale{Vietnamese, English}, AutoClose: 2 * time.Hour, Open: true, Revision: 1,
	}
	b.calendar = nil
	if d := cmp.Diff(want, b, cmp.AllowUnexported(Branch{})); d != "" || err != nil {
		t.Error(d, err)
	}
	b, err = with(vn, func(r *NewBranchRequest) {
		r.Locales, r.DayStart, r.Currency, r.Timezone = []Locale{English}, new(0), money.USD, "Asia/Bangkok"
	}).Branch()
	if err != nil || b.DayStart != 0 || len(b.Locales) != 1 || b.Currency != money.USD || b.Timezone != "Asia/Bangkok" {
		t.Errorf("Branch = %+v, %v, want USD and Asia/Bangkok from 0:00", b, err)
	}
	_, err = NewBranchRequest{Name: "Hoa", Country: "US"}.Branch()
	if f, ok := errors.AsType[*fault.Error](err); !ok || len(f.Extra["timezones"].([]string)) < 6 {
		t.Errorf("the refusal names no time zones: %v", err)
	}
}

func TestNewBranchRequest_Digest(t *testing.T) {
	r := NewBranchRequest{Name: "Hoa", Country: "VN", ClientTxnID: "a"}
	same, other := r, r
	same.ClientTxnID, other.DayStart = "b", new(3)
	if r.Digest() != same.Digest() || r.Digest() == other.Digest() {
		t.Errorf("digests = %s, %s, %s, want the first two equal", r.Digest(), same.Digest(), other.Digest())
	}
}
