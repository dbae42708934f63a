package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/price"
	"comanda/internal/testenv"
)

func branch(t *testing.T, zone string, hour int) catalog.Branch {
	t.Helper()
	return testenv.Must(catalog.NewBranch(catalog.Branch{
		ID: 1, Name: "Test", Currency: "EUR", Timezone: zone, DayStart: hour, Locales: []catalog.Locale{catalog.English},
		AutoClose: time.Hour,
	}))(t)
}

func TestNewSpan(t *testing.T) {
	b := branch(t, "Europe/Madrid", 4)
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"2026-02-26", "2026-02-26", true},
		{"2024-01-01", "2024-12-31", true}, // 366 days
		{"2025-01-01", "2026-01-01", true},
		{"2025-01-01", "2026-01-02", false},
		{"2026-02-27", "2026-02-26", false},
		{"2026-02-30", "2026-03-01", false},
		{"2026-02-01", "2026-2-2", false},
		{"", "2026-02-26", false},
	} {
		_, err := NewSpan(b, c.from, c.to)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrSpan) {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
	}
}

// R5: every instant is in one OffsetPeriod, whose offset is the zone's, even around changes of the clock.
func TestSpan_OffsetPeriods(t *testing.T) {
	for _, c := range []struct {
		zone, from, to string
		n              int
	}{
		{"Asia/Taipei", "2026-01-01", "2026-12-31", 1},
		{"America/New_York", "2026-01-01", "2026-12-31", 3},
		{"America/New_York", "2026-03-07", "2026-03-08", 2}, // the hour from two to three is missing
		{"America/New_York", "2026-10-31", "2026-11-01", 2}, // the hour from one to two comes twice
		{"Australia/Lord_Howe", "2026-01-01", "2026-12-31", 3},
		{"Europe/Madrid", "2044-01-01", "2044-12-31", 3}, // a leap year beyond the zone's table
	} {
		b := branch(t, c.zone, 4)
		s := testenv.Must(NewSpan(b, c.from, c.to))(t)
		all := testenv.Must(s.OffsetPeriods())(t)
		distinct := 1
		for i := 1; i < len(all); i++ {
			if all[i].Start != all[i-1].End {
				t.Errorf("%s: there is a gap before %v", c.zone, all[i])
			}
			if all[i].Shift != all[i-1].Shift {
				distinct++
			}
		}
		if distinct != c.n {
			t.Errorf("%s %s to %s: %d periods, want %d: %v", c.zone, c.from, c.to, distinct, c.n, all)
		}
		first, _ := b.Calendar().Interval(c.from)
		last, _ := b.Calendar().Interval(c.to)
		for at := first.Start; at.Before(last.End); at = at.Add(17 * time.Minute) {
			_, offset := at.In(b.Calendar().Zone()).Zone()
			if got := shiftAt(all, at.UnixMilli()); got != int64(offset)*1000 {
				t.Fatalf("%s at %v: shift %d, want %d s", c.zone, at, got, offset)
			}
		}
	}
}

func shiftAt(all []OffsetPeriod, ms int64) int64 {
	found := int64(-1)
	for _, s := range all {
		if ms >= s.Start && ms < s.End {
			found = s.Shift
		}
	}
	return found
}

func TestHours(t *testing.T) {
	got := Hours([]Cell{{1, 12, 3, 2, 20}, {5, 12, 4, 4, 40}, {5, 23, 1, 0, 0}})
	if len(got) != 24 {
		t.Fatalf("%d hours", len(got))
	}
	testenv.Equal(t, Cell{Hour: 12, Placed: 7, Sales: 6, Gross: 60}, got[12])
	testenv.Equal(t, Cell{Hour: 23, Placed: 1}, got[23])
}

func TestMoneyOf(t *testing.T) {
	m := MoneyOf(
		[]Attempts{{"VNPAY", "PAID", 2, 500}, {"VNPAY", "FAILED", 3, 900}, {"COUNTER", "PAID", 1, 100}},
		[]Refunds{{"", "VNPAY", "STAFF", "DONE", 1, 30}, {"", "VNPAY", "STAFF", "REFUSED", 1, 5}, {"", "VNPAY", "PAID_TWICE", "DUE", 1, 100}},
	)
	if diff := cmp.Diff(Money{Captured: 600, Refunded: 35, Returned: 100, Done: 30}, m); diff != "" || m.Kept() != 465 {
		t.Errorf("money, kept %d (-want +got):\n%s", m.Kept(), diff)
	}
}

func TestUndated_sums_by_method_reason_and_state(t *testing.T) {
	got := Undated([]Refunds{
		{"2026-01-01", "VNPAY", "STAFF", "DONE", 1, 30}, {"2026-01-02", "VNPAY", "STAFF", "DUE", 1, 5},
		{"2026-01-03", "VNPAY", "STAFF", "DONE", 2, 7},
	})
	want := []Refunds{{"", "VNPAY", "STAFF", "DONE", 3, 37}, {"", "VNPAY", "STAFF", "DUE", 1, 5}}
	testenv.Equal(t, want, got)
}

func TestCodeIn(t *testing.T) {
	for raw, want := range map[string]string{
		"vnp_Amount=1000&vnp_ResponseCode=24&vnp_TransactionStatus=02":  "24",
		`{"vnp_ResponseCode":"00","vnp_TransactionStatus":"02"}`:        "02",
		`{"returnCode":"1150","returnMessage":"Transaction not found"}`: "1150",
		`{"returnCode": "1198"}`:    "1198",
		`{"method":"SANDBOX"}`:      "",
		"vnp_ResponseCode=<script>": "",
		"":                          "",
	} {
		if got := CodeIn(raw); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestQuota(t *testing.T) {
	at := time.Unix(1, 0)
	for _, c := range []struct {
		q    Quota
		sold bool
		at   time.Time
	}{
		{Quota{Cap: new(int64(5)), Sold: 4, LastUnit: at}, false, time.Time{}},
		{Quota{Cap: new(int64(5)), Sold: 4, Held: 1, LastUnit: at}, true, at},
		{Quota{Cap: new(int64(3)), Sold: 5, LastUnit: at}, true, at},
		{Quota{Cap: new(int64(0))}, true, time.Time{}},
		{Quota{Cap: new(int64(5)), Sold: 4, LastUnit: at, Off: true}, false, time.Time{}},
		{Quota{Cap: new(int64(5)), Sold: 5, LastUnit: at, Off: true}, true, at},
		{Quota{Sold: 5, LastUnit: at, Off: true}, false, time.Time{}},
	} {
		if c.q.SoldOut() != c.sold || !c.q.SoldOutAt().Equal(c.at) {
			t.Errorf("quota %+v: sold out %v at %v, want %v at %v", c.q, c.q.SoldOut(), c.q.SoldOutAt(), c.sold, c.at)
		}
	}
	if Share(1, 0) != 0 || Share(1, 4) != 0.25 {
		t.Error("shares are wrong")
	}
}

type oneBranch struct{ b catalog.Branch }

func (o oneBranch) Branch(_ context.Context, id int64) (catalog.Branch, error) {
	if id != o.b.ID {
		return catalog.Branch{}, catalog.ErrBranch
	}
	return o.b, nil
}

// Two reports are read at a time. The third waits for a free place, or until its context ends.
func TestService_Slot(t *testing.T) {
	d := NewService(nil, oneBranch{branch(t, "Asia/Taipei", 4)})
	open := func(ctx context.Context, by authz.Actor, branch int64, to string) (func(), error) {
		if _, err := d.Span(ctx, by, branch, "2026-02-01", to); err != nil {
			return nil, err
		}
		return d.Slot(ctx)
	}
	ctx, branchActor, owner := t.Context(), authz.Actor{Branches: []int64{1}}, authz.Actor{AllBranches: true}
	if _, err := open(ctx, authz.Actor{Branches: []int64{2}}, 1, "2026-02-02"); !errors.Is(err, catalog.ErrBranch) {
		t.Errorf("another branch: error %v, want ErrBranch", err)
	}
	testenv.ErrorIs(t, catalog.ErrBranch, testenv.Err(open(ctx, owner, 9, "2026-02-02")), "no such branch")
	for range maxConcurrent + 1 { // refused requests take no place
		testenv.ErrorIs(t, ErrSpan, testenv.Err(open(ctx, branchActor, 1, "2026-01-02")), "the wrong way round")
	}
	first := testenv.Must(open(ctx, branchActor, 1, "2026-02-02"))(t)
	testenv.Must(open(ctx, owner, 1, "2026-02-02"))(t)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	testenv.ErrorIs(t, context.Canceled, testenv.Err(open(gone, branchActor, 1, "2026-02-02")), "one too many")
	first()
	if _, err := open(ctx, branchActor, 1, "2026-02-02"); err != nil {
		t.Errorf("after one has closed: %v", err)
	}
}

func TestPace(t *testing.T) {
	zone := testenv.Must(time.LoadLocation("America/New_York"))(t)
	const minute = 60_000
	noon := time.Date(2026, 3, 7, 12, 0, 0, 0, zone).UnixMilli()
	next := time.Date(2026, 3, 8, 12, 0, 0, 0, zone).UnixMilli() // 23 hours later: the clock was set forward
	if next-noon != 23*60*minute {
		t.Fatal("the clock was not set forward")
	}
	var all []Ticket
	for i := range int64(10) { // preparation times of one to ten minutes
		all = append(all, Ticket{"2026-03-07", noon, noon + minute, noon + minute + (10-i)*minute, 0})
	}
	all = append(all, Ticket{"2026-03-08", next, next + 2*minute, 0, 0}, Ticket{"2026-03-08", next, next + 3*minute, next + 4*minute, next + 9*minute})
	want := []PhaseStats{
		{"2026-03-07", 0, Accept, 10, time.Minute, time.Minute},
		{"2026-03-07", 0, Prepare, 10, 5 * time.Minute, 9 * time.Minute},
		{"2026-03-08", 0, Accept, 2, 2 * time.Minute, 3 * time.Minute},
		{"2026-03-08", 0, Prepare, 1, time.Minute, time.Minute},
		{"2026-03-08", 0, Serve, 1, 5 * time.Minute, 5 * time.Minute},
		{"2026-03-08", 0, Whole, 1, 9 * time.Minute, 9 * time.Minute},
	}
	testenv.Equal(t, want, PhaseStatsByDay(all))
	hours := PhaseStatsByHour(all, zone)
	if len(hours) != 4 || hours[0].Hour != 12 || hours[0].Orders != 12 || hours[1].Orders != 11 {
		t.Errorf("hours = %+v, want four, the first at 12 with 12 orders", hours)
	}
	if len(PhaseStatsByDay(nil)) != 0 {
		t.Error("there is a pace of nothing")
	}
}

// Options are counted by dish and group, those of options too, beside the portions of the dish without any.
func TestOptionSales(t *testing.T) {
	line := func(group, option, qty int64, more ...catalog.OptionLine) catalog.OptionLine {
		return catalog.OptionLine{
			GroupID: group, OptionID: option, Qty: qty, Names: catalog.Texts{"en": fmt.Sprint("option ", option)}, Options: more,
		}
	}
	sales := []ConfiguredSale{
		{DishID: 1, Qty: 3, Options: catalog.EncodeOptionLines([]catalog.OptionLine{line(10, 100, 1), line(11, 110, 2, line(12, 120, 1))})},
		{DishID: 1, Qty: 5, Options: catalog.EncodeOptionLines([]catalog.OptionLine{line(10, 101, 1)})},
		{DishID: 1, Qty: 2},
		{DishID: 2, Qty: 40, Options: catalog.EncodeOptionLines([]catalog.OptionLine{line(10, 100, 1)})},
	}
	var got []string
	for _, o := range OptionSales(sales, map[int64]catalog.Texts{10: {"en": "Size"}}) {
		got = append(got, fmt.Sprintf("%d %s/%s %d of %d", o.DishID, o.Group["en"], o.Option["en"], o.Qty, o.Portions))
	}
	want := []string{
		"2 Size/option 100 40 of 40", "1 Size/option 101 5 of 10", "1 Size/option 100 3 of 10", "1 /option 110 6 of 10", "1 /option 120 6 of 10",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("counted\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func quoteText(t *testing.T, in price.Input) (total int64, text string) {
	t.Helper()
	r := testenv.Must(price.NewQuoteRecord(in))(t)
	return r.Result.Total, string(testenv.Must(json.Marshal(r))(t))
}

func TestTaxBook(t *testing.T) {
	in := price.Input{
		Currency: "VND", PriceMode: price.Inclusive, TaxScope: price.PerBill, TaxRounding: price.HalfUp,
		Lines:          []price.Line{{Qty: 2, UnitPrice: 65_000, Rate: "8"}, {Qty: 3, UnitPrice: 25_000, Rate: "10"}, {Qty: 1, UnitPrice: 5_000}},
		ServiceCharges: []price.ServiceCharge{{Amount: new(int64(10_000))}},
	}
	book := NewTaxBook()
	add := func(date string, in price.Input) {
		total, text := quoteText(t, in)
		testenv.NoError(t, book.Add(Quoted{date, total, text}))
	}
	add("2026-02-26", in)
	in.Discounts = []price.Discount{{Percent: "10"}}
	add("2026-02-26", in)
	in.PriceMode = price.Exclusive
	add("2026-02-27", in)
	testenv.NoError(t, book.Add(Quoted{"2026-02-27", 1000, ""}))

	want := []TaxDay{
		{"2026-02-26", "10", 129_545, 12_955 - 1, 2}, {"2026-02-26", "8", 228_704, 18_296, 2}, {"2026-02-26", "", 29_500, 0, 2},
		{"2026-02-27", "10", 67_500, 6_750, 1}, {"2026-02-27", "8", 117_000, 9_360, 1}, {"2026-02-27", "", 15_500, 0, 2},
	}
	want[0].Base, want[0].Amount = 68_182+61_364, 6_818+6_136
	want[1].Base, want[1].Amount = 120_370+108_333, 9_630+8_667
	testenv.Equal(t, want, book.Days())
	sum := int64(0)
	for _, d := range book.Days() {
		sum += d.Base + d.Amount
	}
	s := book.Sums
	if sum != s.Total || s.Orders != 4 || s.Service != 30_000 || s.Discount != 42_000 {
		t.Errorf("the days add up to %d and the sums are %+v, want the same total, 4 orders, 30000 service and 42000 discount", sum, s)
	}
	if err := book.Add(Quoted{"2026-02-27", 1, "{"}); err == nil {
		t.Error("an unreadable quote is accepted")
	}
}

// A year of orders in a busy restaurant, as the ticket report reads it.
func BenchmarkPace(b *testing.B) {
	zone := testenv.Must(time.LoadLocation("America/New_York"))(b)
	begin := time.Date(2025, 1, 1, 9, 0, 0, 0, time.UTC)
	all := make([]Ticket, 270_000)
	for i := range all {
		at := begin.Add(time.Duration(i) * 365 * 24 * time.Hour / time.Duration(len(all)))
		paid := at.UnixMilli()
		all[i] = Ticket{at.Format(time.DateOnly), paid, paid + int64(i*7%60_000), paid + int64(i*13%900_000), paid + int64(i*17%1_200_000)}
	}
	for b.Loop() {
		if len(PhaseStatsByDay(all)) == 0 || len(PhaseStatsByHour(all, zone)) == 0 {
			b.Fatal("nothing")
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
