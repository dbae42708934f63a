package catalog

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"comanda/internal/testenv"
)

// zones are time zones that broke other implementations: changes at midnight, half-hour changes, a skipped day, a
// repeated day, large and odd offsets, and the two of the demo.
var zones = []string{
	"UTC", "Asia/Ho_Chi_Minh", "Asia/Taipei", "America/Santiago", "Asia/Beirut", "Africa/Cairo", "Pacific/Apia",
	"Australia/Lord_Howe", "America/Sao_Paulo", "America/New_York", "Europe/London", "Asia/Tehran", "Asia/Kathmandu",
	"Pacific/Kiritimati", "Pacific/Chatham", "America/St_Johns", "Africa/Casablanca", "Asia/Gaza", "America/Havana",
	"Antarctica/Troll", "Pacific/Kwajalein", "America/Juneau", "Asia/Manila", "America/Asuncion", "Atlantic/Azores",
}

func calendar(t rapid.TB, zone string, hour int) *Calendar {
	t.Helper()
	return testenv.Must(NewCalendar(zone, hour))(t)
}

func TestCalendar_BizDate(t *testing.T) {
	tests := []struct {
		name, zone string
		hour       int
		at, want   string
	}{
		{"before the start hour it is still yesterday", "Asia/Ho_Chi_Minh", 4, "2026-02-26T03:59:59.999+07:00", "2026-02-25"},
		{"at the start hour the date changes", "Asia/Ho_Chi_Minh", 4, "2026-02-26T04:00:00+07:00", "2026-02-26"},
		{"Taipei at five", "Asia/Taipei", 5, "2026-02-26T04:59:59+08:00", "2026-02-25"},
		{"a start at midnight", "Asia/Taipei", 0, "2026-02-26T00:00:00+08:00", "2026-02-26"},
		{"the year changes", "Asia/Taipei", 5, "2027-01-01T01:00:00+08:00", "2026-12-31"},
		// Santiago skipped 00:00-01:00 on 2019-09-08: the day began at 01:00 local, 04:00 UTC.
		{"last instant before a gap at midnight", "America/Santiago", 0, "2019-09-08T03:59:59Z", "2019-09-07"},
		{"the gap's end begins the day", "America/Santiago", 0, "2019-09-08T04:00:00Z", "2019-09-08"},
		// Santiago set 24:00 back to 23:00 on 2019-04-06 (at 03:00 UTC): midnight is reached once, an hour later.
		{"a repeated hour before midnight", "America/Santiago", 0, "2019-04-07T03:30:00Z", "2019-04-06"},
		{"midnight after the repeated hour", "America/Santiago", 0, "2019-04-07T04:00:00Z", "2019-04-07"},
		// St. John's set 00:01 back to 23:01 until 2011 (2010-11-07, at 02:31 UTC): midnight came twice, the first counts.
		{"the first midnight begins the day", "America/St_Johns", 0, "2010-11-07T02:30:00Z", "2010-11-07"},
		{"an hour that comes twice never goes back", "America/St_Johns", 0, "2010-11-07T02:45:00Z", "2010-11-07"},
		// Apia had no 2011-12-30: its Thursday ended at 2011-12-30T10:00Z and Saturday began.
		{"the last hour before the skipped day", "Pacific/Apia", 4, "2011-12-30T09:59:59Z", "2011-12-29"},
		{"a skipped day lasts until the next boundary", "Pacific/Apia", 4, "2011-12-30T10:00:00Z", "2011-12-30"},
		{"the day after the skipped one", "Pacific/Apia", 4, "2011-12-30T14:00:00Z", "2011-12-31"},
		{"a skipped day is empty with a start at midnight", "Pacific/Apia", 0, "2011-12-30T10:00:00Z", "2011-12-31"},
		// Lord Howe goes forward by half an hour, from 02:00 to 02:30 (2025-10-05, at 15:30 UTC of the day before).
		{"a gap of half an hour", "Australia/Lord_Howe", 2, "2025-10-04T15:30:00Z", "2025-10-05"},
		{"a moment earlier", "Australia/Lord_Howe", 2, "2025-10-04T15:29:59Z", "2025-10-04"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := testenv.Must(time.Parse(time.RFC3339Nano, tt.at))(t)
			if got := calendar(t, tt.zone, tt.hour).BizDate(at); got != tt.want {
				t.Errorf("business date of %s in %s from %d:00 is %s, want %s", tt.at, tt.zone, tt.hour, got, tt.want)
			}
		})
	}
}

// drawInstant prefers the hours around a zone's changes of offset, where bugs are likely.
func drawInstant(t *rapid.T, zone *time.Location) time.Time {
	at := time.Unix(rapid.Int64Range(-2_000_000_000, 4_000_000_000).Draw(t, "unix"), 0).In(zone)
	if rapid.Bool().Draw(t, "near a change") {
		if _, end := at.ZoneBounds(); !end.IsZero() {
			at = end.Add(time.Duration(rapid.Int64Range(-50*3600, 50*3600).Draw(t, "seconds away")) * time.Second)
		}
	}
	return at
}

// I14: the date's interval holds the instant, and neighbours touch without gap or overlap.
func TestCalendar_day_holds_its_instants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := calendar(t, rapid.SampledFrom(zones).Draw(t, "zone"), rapid.IntRange(0, 23).Draw(t, "hour"))
		at := drawInstant(t, c.zone)
		day := c.At(at)
		if !day.Contains(at) {
			t.Fatalf("%v is not within %v", at, day)
		}
		same, err := c.Interval(day.Date)
		if err != nil || same != day {
			t.Fatalf("Interval returned %v, %v; At returned %v", same, err, day)
		}
		if next := c.At(day.End); next.Start != day.End || next.Date <= day.Date {
			t.Fatalf("after %v comes %v", day, next)
		}
	})
}

// I14: a later instant never has an earlier date.
func TestCalendar_never_goes_back(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := calendar(t, rapid.SampledFrom(zones).Draw(t, "zone"), rapid.IntRange(0, 23).Draw(t, "hour"))
		at := drawInstant(t, c.zone)
		later := at.Add(time.Duration(rapid.Int64Range(0, 72*3600).Draw(t, "seconds later")) * time.Second)
		if a, b := c.find(at).Date, c.find(later).Date; a > b {
			t.Fatalf("%v has %s, but the later %v has %s", at, a, later, b)
		}
	})
}

// The definition, checked second by second: at the boundary the local time has reached the requested one, and at no
// second of the day and a half before had it.
func TestCalendar_boundary_is_the_earliest(t *testing.T) {
	reached := func(at time.Time, zone *time.Location, want time.Time) bool {
		l := at.In(zone)
		naive := time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), l.Second(), 0, time.UTC)
		return !naive.Before(want)
	}
	rapid.Check(t, func(t *rapid.T) {
		hour := rapid.IntRange(0, 23).Draw(t, "hour")
		c := calendar(t, rapid.SampledFrom(zones).Draw(t, "zone"), hour)
		y, m, d := drawInstant(t, c.zone).Date()
		date := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		want := date.Add(time.Duration(hour) * time.Hour)
		b := c.boundary(date)
		if !reached(b, c.zone, want) {
			t.Fatalf("at %v local time is %v, before %v", b, b.In(c.zone), want)
		}
		if reached(b.Add(-time.Second), c.zone, want) {
			t.Fatalf("a second before %v local time was reached already", b)
		}
		for at := b.Add(-36 * time.Hour); at.Before(b); at = at.Add(10 * time.Minute) {
			if reached(at, c.zone, want) {
				t.Fatalf("local time %v was reached at %v, before %v", want, at, b)
			}
		}
	})
}

func TestCalendar_every_day_of_many_years(t *testing.T) {
	for _, zone := range zones {
		c := calendar(t, zone, 0)
		date := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		last := c.boundary(date)
		for date.Year() < 2045 {
			date = date.AddDate(0, 0, 1)
			b := c.boundary(date)
			if length := b.Sub(last); length < 0 || length > 49*time.Hour {
				t.Fatalf("%s: the day before %s lasts %v", zone, date.Format(dateLayout), length)
			}
			last = b
		}
	}
}

func TestNewCalendar_refuses(t *testing.T) {
	for _, tt := range []struct {
		zone string
		hour int
	}{{"", 4}, {"Local", 4}, {"Asia/Atlantis", 4}, {"../etc/passwd", 4}, {"Asia/Taipei", -1}, {"Asia/Taipei", 24}} {
		if _, err := NewCalendar(tt.zone, tt.hour); err == nil {
			t.Errorf("%q from %d:00 is accepted", tt.zone, tt.hour)
		}
	}
}

func TestCalendar_Interval_refuses(t *testing.T) {
	c := calendar(t, "Asia/Taipei", 5)
	for _, date := range []string{"", "2026-02-30", "2026-2-3", "20260203", "2026-02-03T00:00:00Z"} {
		if _, err := c.Interval(date); err == nil {
			t.Errorf("%q is accepted", date)
		}
	}
}

func BenchmarkCalendar_BizDate(b *testing.B) {
	c, _ := NewCalendar("Asia/Ho_Chi_Minh", 4)
	now := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC)
	for b.Loop() {
		c.BizDate(now)
	}
}
