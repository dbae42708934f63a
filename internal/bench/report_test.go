package bench

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/testenv"
)

func TestLimits_imply(t *testing.T) {
	l := Limits{Echo: Load{PerSecond: 60_000}, Script: Rate{PerSecond: 120_000}, Commit: Rate{PerSecond: 40_000}}
	l.imply(10_000)
	if l.Implied != 20_000 || l.Ratio != 0.5 {
		t.Errorf("imply(10000) = %g, ratio %g, want 20000 and 0.5", l.Implied, l.Ratio)
	}
	l = Limits{Echo: Load{PerSecond: 60_000}}
	if l.imply(10_000); l.Implied != 0 || l.Ratio != 0 {
		t.Errorf("a limit of two stages that were not measured: %+v", l)
	}
}

// The sum has the components of the later round. One that is missing there is dropped.
func TestPlus(t *testing.T) {
	got := plus([]Cost{{"server", 5}, {"redis", 1}}, []Cost{{"server", 7}, {"postgres", 2}})
	testenv.Equal(t, []Cost{{"server", 12}, {"postgres", 2}}, got)
}

// sample returns a report with a value in every field.
func sample() Report {
	orders := OrderLoad{
		Load:    Load{Conns: 64, PerSecond: 9876.4, P50: 6.1, P95: 9.2, P99: 12.3, Max: 45.6, BodyBytes: 320},
		Batches: Batches{Commit: 31.5, Try: 15.2, Held: 30.1, Cold: 0.01}, Drain: 0.25,
		CPU: []Cost{{"server", 60}, {"postgres", 40}},
	}
	slower := orders
	slower.Conns, slower.PerSecond, slower.Errors = 128, 9000, map[string]int64{"status 503": 2, "connection": 1}
	return Report{
		At: time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC), Machine: Machine{"Test CPU", 2, "go1.26", "linux/amd64"},
		Database: "postgres 15.20", Redis: "standalone 7.0.15", Seconds: 5,
		History: &History{
			Orders: 1_000_000, Branches: 50, Dishes: 1000, Dates: 200, Bytes: 3 << 30, Seconds: 95.6, Start: 1.5, Documents: 80.1,
		},
		Orders: []OrderLoad{orders, slower},
		Half:   Load{Conns: 64, Rate: 4938, PerSecond: 4937.8, P99: 3.2}, Refusals: Load{Conns: 64, PerSecond: 20_000},
		Menu:       Load{Conns: 64, PerSecond: 8000, BodyBytes: 47_000},
		Compressed: Load{Conns: 64, PerSecond: 18_000, BodyBytes: 3000},
		Unchanged:  Load{Conns: 64, PerSecond: 30_000},
		OverEcho:   EchoRatios{Refusals: 0.33, Menu: 0.13, Compressed: 0.3, Unchanged: 0.5},
		Members: &MemberLoads{
			Read: Load{Conns: 64, PerSecond: 7000}, Change: Load{Conns: 64, PerSecond: 6000},
			Rounds:    12,
			Checkouts: RoundsLoad{Load{Conns: 64, PerSecond: 4000}, []Cost{{"server", 90}, {"postgres", 70}}},
			Orders:    RoundsLoad{Load{Conns: 64, PerSecond: 5000}, []Cost{{"server", 80}, {"postgres", 60}}},
			Ratio:     0.8,
		},
		Reservations: &ReservationLoads{
			Try:    RoundsLoad{Load{Conns: 64, PerSecond: 9000}, []Cost{{"server", 40}}},
			Memory: 210, Alternating: Load{Conns: 64, PerSecond: 11_000}, Read: Load{Conns: 64, PerSecond: 25_000},
		},
		Notices: &NoticeLoads{
			Rounds: 4,
			First:  RoundsLoad{Load{Conns: 64, PerSecond: 3500}, []Cost{{"server", 75}}},
			Again:  RoundsLoad{Load{Conns: 64, PerSecond: 6000}, []Cost{{"server", 30}}},
			Orders: RoundsLoad{Load{Conns: 64, PerSecond: 5000}, []Cost{{"server", 90}}}, Ratio: 0.7,
		},
		Streams: &StreamLoads{
			Streams: 5000, Opening: 1.5, Bytes: 30_500, Idle: []Cost{{"server", 250_000}},
			Menu:   StreamDelay{Changes: 20, Events: 50_000, P50: 120.5, P99: 480, Max: 500.25, CPU: []Cost{{"server", 90_000}}},
			Orders: StreamDelay{Changes: 100, Events: 99, Missing: 1, P50: 3.5, P99: 9, Max: 12},
		},
		Limits: Limits{
			Echo: Load{Conns: 64, PerSecond: 60_000}, Script: Rate{120_000, 15}, Commit: Rate{40_000, 32},
			Implied: 20_000, Ratio: 0.49,
			Floor: FloorLimit{
				RoundsLoad: RoundsLoad{Load{Conns: 64, PerSecond: 24_000, BodyBytes: 58}, []Cost{{"server", 30}, {"postgres", 25}}},
				Batch:      120,
				Product:    RoundsLoad{Load{Conns: 64, PerSecond: 9600}, []Cost{{"server", 62}, {"postgres", 41}}}, Rounds: 6,
			},
			OverFloor: 0.4,
		},
		Memory: Memory{HoldKey: 184, Hold: 231.7, IdleRSS: 30 << 20, LoadedRSS: 90 << 20},
	}
}

func TestReport_best(t *testing.T) {
	if best := sample().Best(); best.Conns != 64 {
		t.Errorf("Best() = %+v, want 64 connections", best)
	}
}

var update = flag.Bool("update", false, "rewrite the golden file")

func TestReport_text(t *testing.T) {
	const golden = "testdata/report.txt"
	var b strings.Builder
	sample().Text(&b)
	if *update {
		testenv.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o600))
	}
	want := testenv.Must(os.ReadFile(golden))(t)
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReport_json(t *testing.T) {
	text := testenv.Must(json.Marshal(sample()))(t)
	var decoded Report
	testenv.NoError(t, json.Unmarshal(text, &decoded))
	testenv.Equal(t, sample(), decoded)
	var fields struct {
		Orders []struct {
			CPU []struct{ MicrosPerOrder float64 }
		}
		Limits struct {
			ProductOverFloor, ProductOverImplied float64
			Floor                                struct {
				PerSecond float64
				CPU       []struct{ Process string }
				Product   struct{ PerSecond float64 }
			}
		}
		History struct{ Orders, FillSeconds float64 }
	}
	testenv.NoError(t, json.Unmarshal(text, &fields))
	if l := fields.Limits; l.ProductOverFloor != 0.4 || l.ProductOverImplied != 0.49 || l.Floor.PerSecond != 24_000 ||
		len(l.Floor.CPU) != 2 || l.Floor.Product.PerSecond != 9600 || fields.History.Orders != 1e6 ||
		fields.History.FillSeconds != 95.6 || fields.Orders[0].CPU[0].MicrosPerOrder != 60 {
		t.Errorf("programs that read the report would find %+v", fields)
	}
	if rate := perSecond(1, 0); rate != 0 { // an infinite rate could not be written
		t.Errorf("a rate of no time is %v", rate)
	}
}
