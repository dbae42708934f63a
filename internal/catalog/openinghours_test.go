package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"comanda/internal/fault"
	"comanda/internal/money"
	"comanda/internal/testenv"
)

// openBranch returns a branch with opening hours.
func openBranch(t rapid.TB, zone string, h OpeningHours) Branch {
	t.Helper()
	return testenv.Must(branchWithHours(zone, h))(t)
}

func branchWithHours(zone string, h OpeningHours) (Branch, error) {
	return NewBranch(Branch{
		Name: "Hoa", Currency: money.VND, Timezone: zone, DayStart: 4, Locales: []Locale{English},
		AutoClose: time.Hour, Open: true, Hours: h,
	})
}

// supper is open for lunch and supper on Thursdays, past midnight on Fridays, and closed on Christmas Eve, a Thursday.
var supper = OpeningHours{
	Weekly: map[Weekday][]Period{
		"thu": {{"11:00", "14:30"}, {"17:00", "22:00"}},
		"fri": {{"17:00", "01:00"}},
		"sat": {{"01:00", "00:00"}},
	},
	Exceptions: []HoursException{{Date: "2026-12-24", Note: "Christmas Eve"}},
}

// alwaysOpen is open at all hours of every day but one.
var alwaysOpen = OpeningHours{Exceptions: []HoursException{{Date: "2026-12-25", Periods: []Period{{"18:00", "00:00"}}}}}

func TestBranch_hours(t *testing.T) {
	short := OpeningHours{Weekly: map[Weekday][]Period{"sun": {{"02:15", "02:45"}, {"10:00", "11:00"}}}}
	for name, c := range map[string]struct {
		zone   string
		hours  OpeningHours
		at     string
		open   bool
		change string
	}{
		"no hours":                        {"Asia/Taipei", OpeningHours{}, "2026-11-19T03:00:00+08:00", true, ""},
		"before lunch":                    {"Asia/Ho_Chi_Minh", supper, "2026-11-19T10:59:59+07:00", false, "2026-11-19T11:00:00+07:00"},
		"at opening":                      {"Asia/Ho_Chi_Minh", supper, "2026-11-19T11:00:00+07:00", true, "2026-11-19T14:30:00+07:00"},
		"at closing":                      {"Asia/Ho_Chi_Minh", supper, "2026-11-19T14:30:00+07:00", false, "2026-11-19T17:00:00+07:00"},
		"past midnight it goes on":        {"Asia/Ho_Chi_Minh", supper, "2026-11-21T00:30:00+07:00", true, "2026-11-22T00:00:00+07:00"},
		"Saturday's day meets Friday":     {"Asia/Ho_Chi_Minh", supper, "2026-11-20T23:00:00+07:00", true, "2026-11-22T00:00:00+07:00"},
		"closed until Thursday":           {"Asia/Ho_Chi_Minh", supper, "2026-11-22T00:00:00+07:00", false, "2026-11-26T11:00:00+07:00"},
		"an exception closes the day":     {"Asia/Ho_Chi_Minh", supper, "2026-12-24T12:00:00+07:00", false, "2026-12-25T17:00:00+07:00"},
		"always open until the exception": {"Asia/Taipei", alwaysOpen, "2026-12-24T12:00:00+08:00", true, "2026-12-25T00:00:00+08:00"},
		"an exception opens later":        {"Asia/Taipei", alwaysOpen, "2026-12-25T12:00:00+08:00", false, "2026-12-25T18:00:00+08:00"},
		"after the exception":             {"Asia/Taipei", alwaysOpen, "2026-12-26T12:00:00+08:00", true, ""},
		// New York skipped 02:00-03:00 on 2026-03-08 and repeated 01:00-02:00 on 2026-11-01.
		"a period within the skipped hour": {"America/New_York", short, "2026-03-08T03:01:00-04:00", false, "2026-03-08T10:00:00-04:00"},
		"the night of the repeated hour": {
			"America/New_York", OpeningHours{Weekly: map[Weekday][]Period{"sat": {{"20:00", "01:30"}}}},
			"2026-11-01T01:00:00-05:00", false, "2026-11-07T20:00:00-05:00",
		},
		"the opening after the change": {"America/New_York", short, "2026-10-31T12:00:00-04:00", false, "2026-11-01T02:15:00-05:00"},
	} {
		t.Run(name, func(t *testing.T) {
			at := testenv.Must(time.Parse(time.RFC3339, c.at))(t)
			b := openBranch(t, c.zone, c.hours)
			change := ""
			if next := b.HoursChange(at); !next.IsZero() {
				change = next.In(b.Calendar().Zone()).Format(time.RFC3339)
			}
			if b.OpenAt(at) != c.open || change != c.change {
				t.Errorf("open %t until %s, want %t until %s", b.OpenAt(at), change, c.open, c.change)
			}
		})
	}
}

// The schedule is compared with a model that proceeds minute by minute and stores the latest local time so far.
func TestBranch_hours_model(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		loc := testenv.Must(time.LoadLocation(zone))(t)
		around := drawInstant(t, loc).Truncate(time.Hour)
		h := drawHours(t, around.In(loc))
		b, err := branchWithHours(zone, h)
		if err != nil {
			t.Skip("overlapping hours")
		}
		opens := map[string]bool{} // by local minute
		if len(h.Weekly) == 0 && len(h.Exceptions) == 0 {
			t.Skip("always open")
		}
		y, m, d := around.In(loc).Date()
		for n := -4; n <= 4; n++ {
			date := time.Date(y, m, d+n, 0, 0, 0, 0, time.UTC)
			for at := range minutes(date, modelPeriods(h, date)) {
				opens[at] = true
			}
		}
		shown := ""
		wasOpen, wasChange := false, time.Time{}
		for at := around.Add(-30 * time.Hour); at.Before(around.Add(12 * time.Hour)); at = at.Add(time.Minute) {
			if local := at.In(loc).Format("2006-01-02 15:04"); local > shown {
				shown = local
			}
			if at.Before(around.Add(-12*time.Hour)) || at.In(loc).Second() != 0 {
				continue
			}
			open := b.OpenAt(at)
			if open != opens[shown] {
				t.Fatalf("at %s in %s: open %t, the model %t; %+v", at.In(loc), zone, open, opens[shown], h)
			}
			// A change happens exactly when it was announced.
			if !wasChange.IsZero() && (open != wasOpen) != !at.Before(wasChange) {
				t.Fatalf("at %s: open %t after %t, announced for %s", at, open, wasOpen, wasChange)
			}
			wasOpen, wasChange = open, b.HoursChange(at)
		}
	})
}

// modelPeriods returns the periods of a date as written.
func modelPeriods(h OpeningHours, date time.Time) []Period {
	for _, e := range h.Exceptions {
		if e.Date == date.Format(time.DateOnly) {
			return e.Periods
		}
	}
	if len(h.Weekly) == 0 {
		return []Period{{"00:00", "00:00"}}
	}
	return h.Weekly[Weekday(strings.ToLower(date.Weekday().String()[:3]))]
}

// minutes returns the local minutes of periods, counted one by one.
func minutes(date time.Time, periods []Period) map[string]bool {
	all := map[string]bool{}
	for _, p := range periods {
		at, _ := time.Parse("2006-01-02 15:04", date.Format(time.DateOnly)+" "+p.From)
		for first := true; first || at.Format("15:04") != p.To; first = false {
			all[at.Format("2006-01-02 15:04")] = true
			at = at.Add(time.Minute)
		}
	}
	return all
}

func drawHours(t *rapid.T, around time.Time) OpeningHours {
	clock := rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("%02d:%02d", rapid.IntRange(0, 23).Draw(t, "hour"), rapid.SampledFrom([]int{0, 1, 15, 30, 59}).Draw(t, "minute"))
	})
	periods := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Period {
		return Period{clock.Draw(t, "from"), clock.Draw(t, "to")}
	}), 0, 2)
	h := OpeningHours{Weekly: map[Weekday][]Period{}}
	for _, day := range weekdays {
		if rapid.Bool().Draw(t, "open on "+string(day)) {
			h.Weekly[day] = periods.Draw(t, string(day))
		}
	}
	for n := range rapid.IntRange(0, 2).Draw(t, "exceptions") {
		h.Exceptions = append(h.Exceptions, HoursException{
			Date: around.AddDate(0, 0, n).Format(time.DateOnly), Periods: periods.Draw(t, "exception"),
		})
	}
	return h
}

func TestNewBranch_refuses_hours(t *testing.T) {
	day := func(periods ...Period) OpeningHours {
		return OpeningHours{Weekly: map[Weekday][]Period{"mon": periods}}
	}
	except := func(all ...HoursException) OpeningHours { return OpeningHours{Exceptions: all} }
	for field, h := range map[string]OpeningHours{
		"weekly":                   {Weekly: map[Weekday][]Period{"mon": {}, "tue": nil}},
		"weekly.mon":               day(Period{"11:00", "15:00"}, Period{"14:59", "16:00"}),
		"weekly.mon[0]":            day(Period{"11:00", "24:00"}),
		"weekly.mon[1]":            day(Period{"01:00", "02:00"}, Period{"9:00", "10:00"}),
		"weekly.tue":               {Weekly: map[Weekday][]Period{"tue": {{"20:00", "02:00"}}, "wed": {{"01:59", "03:00"}}}},
		"exceptions[0].date":       except(HoursException{Date: "2026-02-30"}),
		"exceptions[1].date":       except(HoursException{Date: "2026-02-03"}, HoursException{Date: "2026-02-03"}),
		"exceptions[0].note":       except(HoursException{Date: "2026-02-03", Note: strings.Repeat("x", MaxExceptionNote+1)}),
		"exceptions[0].periods":    except(HoursException{Date: "2026-02-03", Periods: []Period{{"20:00", "02:00"}}}),
		"exceptions[1].periods":    except(HoursException{Date: "2026-02-03"}, HoursException{Date: "2026-02-04", Periods: make([]Period, 5)}),
		"exceptions":               except(make([]HoursException, MaxExceptions+1)...),
		"exceptions[0].periods[0]": except(HoursException{Date: "2026-02-03", Periods: []Period{{"", "10:00"}}}),
	} {
		_, err := branchWithHours("Asia/Taipei", h)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Kind != fault.Invalid || f.Extra["field"] != "openingHours."+field {
			t.Errorf("%s: error %v, want Invalid about that field", field, err)
		}
	}
	if _, err := branchWithHours("Asia/Taipei", OpeningHours{Weekly: map[Weekday][]Period{"monday": nil}}); err == nil {
		t.Error("an unknown weekday is accepted")
	}
}

// An order is accepted for five minutes after closing; the refusal names the next opening.
func TestBranch_CheckOpen(t *testing.T) {
	b := openBranch(t, "Asia/Ho_Chi_Minh", supper)
	closing := time.Date(2026, 11, 19, 7, 30, 0, 0, time.UTC)
	testenv.NoError(t, errors.Join(b.CheckOpen(closing.Add(-1)), b.CheckOpen(closing.Add(ClosingGrace-1))))
	if c, at := b.Closed(closing); c != nil || !at.Equal(closing.Add(ClosingGrace)) {
		t.Errorf("%+v until %v", c, at)
	}
	if c, at := b.Closed(closing.Add(ClosingGrace)); c == nil || !at.Equal(c.OpensAt) {
		t.Errorf("%+v until %v", c, at)
	}
	refusal := func(b Branch, at time.Time) any {
		t.Helper()
		err := b.CheckOpen(at)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
		return f.Extra["opensAt"]
	}
	if at := refusal(b, closing.Add(ClosingGrace)); at != closing.Add(150*time.Minute) {
		t.Errorf("opens at %v", at)
	}
	b.Open = false
	if at := refusal(b, closing.Add(-time.Hour)); at != nil {
		t.Errorf("a branch that is switched off opens at %v", at)
	}
}

func TestOpeningHours_JSON(t *testing.T) {
	text, err := json.Marshal(OpeningHours{Weekly: map[Weekday][]Period{"fri": {{"17:00", "01:00"}}}, Exceptions: supper.Exceptions}.Filled())
	want := `{"weekly":{"fri":[{"from":"17:00","to":"01:00"}]},` +
		`"exceptions":[{"date":"2026-12-24","periods":[],"note":"Christmas Eve"}]}`
	if string(text) != want || err != nil {
		t.Errorf("opening hours as JSON = %s, %v, want %s", text, err, want)
	}
	if text, err = json.Marshal(OpeningHours{}.Filled()); string(text) != `{"weekly":{},"exceptions":[]}` || err != nil {
		t.Errorf("empty opening hours as JSON = %s, %v, want empty lists", text, err)
	}
}
