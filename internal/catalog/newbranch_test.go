package catalog

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/fault"
	"comanda/internal/money"
)

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
