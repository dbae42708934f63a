package app

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"

	"comanda/internal/testenv"
)

// metricSeries maps series to one value per minute in Prometheus's notation: 0x9 1x30 is ten zeros and then ones,
// 0+60x40 grows by 60.
type metricSeries map[string]string

// healthy is an installation without any fault.
var healthy = metricSeries{
	`stock_low_items{branch="1"}`:                              "0x40",
	`inventory_ended_total{to="expired"}`:                      "0+1x40",
	`inventory_try_total{result="reserved"}`:                   "0+100x40",
	`hold_overdue_oldest_age_seconds{of="orders"}`:             "1x40",
	`hold_overdue_oldest_age_seconds{of="reservations"}`:       "1x40",
	`reservation_drift_units`:                                  "0x40",
	`redis_rebuild_total{result="failed"}`:                     "1x40",
	`breaker_state{dep="redis"}`:                               "0x40",
	`redis_outbox_oldest_age_seconds`:                          "1x40",
	`redis_outbox_dead`:                                        "0x40",
	`document_outbox_oldest_age_seconds`:                       "1x40",
	`document_damaged`:                                         "0x40",
	`document_drift`:                                           "0x40",
	`redis_evicting_servers`:                                   "0x40",
	`redis_memory_used_bytes{server="redis:6379"}`:             "80x40",
	`redis_memory_limit_bytes{server="redis:6379"}`:            "100x40",
	`redis_memory_used_bytes{server="unlimited:6379"}`:         "80x40",
	`redis_memory_limit_bytes{server="unlimited:6379"}`:        "0x40",
	`outbox_oldest_age_seconds`:                                "1x40",
	`dlq_messages{consumer="daybook"}`:                         "0x40",
	`rabbit_connected{role="publisher"}`:                       "1x40",
	`rabbit_blocked{role="publisher"}`:                         "0x40",
	`rabbit_queue_differs{queue="store.order.paid"}`:           "0x40",
	`up{job="comanda"}`:                                        "1x40",
	`job_last_success_timestamp_seconds{job="relay"}`:          "0+60x40",
	`job_last_success_timestamp_seconds{job="measure"}`:        "0+60x40",
	`job_last_success_timestamp_seconds{job="sweeper"}`:        "0+60x40",
	`job_last_success_timestamp_seconds{job="reservations"}`:   "0+60x40",
	`job_errors_total{job="sweeper"}`:                          "0+1x40",
	`job_runs_total{job="sweeper"}`:                            "0+60x40",
	`job_panics_total{job="sweeper"}`:                          "1x40",
	`http_server_request_duration_seconds_count{status="200"}`: "0+6000x40",
	`http_server_request_duration_seconds_count{status="503"}`: "0+6x40",
	`mail_oldest_age_seconds`:                                  "10x40",
	`mail_dead`:                                                "0x40",
	`auth_refresh_reuse_total`:                                 "1x40",
	`clock_steps_total{clock="deciding",direction="back"}`:     "1x40",
	`clock_steps_total{clock="machine",direction="any"}`:       "3x40",
	`clock_settled`:                                            "1x40",
	`clock_measurement_age_seconds`:                            "10x40",
	`clock_offset_seconds`:                                     "0x40",
	`refund_obligation_oldest_age_seconds`:                     "100x40",
	`payment_stuck{state="REVIEW"}`:                            "0x40",
	`payment_callback_total{method="VNPAY",result="forged"}`:   "1x40",
	`payment_callback_total{method="VNPAY",result="paid"}`:     "0+100x40",
}

// none removes a series from healthy.
const none = ""

// faults has for each alert the fault, the minute until which no alert may fire, and the minute at which it must fire.
var faults = []struct {
	alert       string
	wrong       metricSeries
	quiet, loud int
}{
	{"StockLow", metricSeries{`stock_low_items{branch="1"}`: "0x9 2x30"}, 14, 15},
	{"ReservationTimeoutsHigh", metricSeries{`inventory_ended_total{to="expired"}`: "0+50x40"}, 4, 15},
	{"HoldsOverdue", metricSeries{`hold_overdue_oldest_age_seconds{of="reservations"}`: "1x9 31+60x30"}, 11, 12},
	{"StockDrift", metricSeries{`reservation_drift_units`: "0x9 3x30"}, 11, 12},
	{"RebuildsFail", metricSeries{`redis_rebuild_total{result="failed"}`: "0+2x40"}, 4, 15},
	{"RedisDown", metricSeries{ // its consequences must not fire as well
		`breaker_state{dep="redis"}`: "0x9 1x30", `redis_outbox_oldest_age_seconds`: "1x9 1+60x30",
		`redis_rebuild_total{result="failed"}`: "1x9 1+9x30", `document_outbox_oldest_age_seconds`: "1x9 1+60x30",
		`document_damaged`: "0x9 1x30",
	}, 10, 25},
	{"RedisOutboxStuck", metricSeries{`redis_outbox_oldest_age_seconds`: "1x9 61+60x30"}, 11, 12},
	{"RedisOutboxDead", metricSeries{`redis_outbox_dead`: "0x9 1x30"}, 10, 11},
	{"DocumentsBehind", metricSeries{`document_outbox_oldest_age_seconds`: "1x9 61+60x30"}, 14, 15},
	{"DocumentsLost", metricSeries{`document_damaged`: "0x9 1x30"}, 11, 12},
	{"DocumentsDiffer", metricSeries{`document_drift`: "0x9 3x30"}, 14, 15},
	{"RedisEvicts", metricSeries{`redis_evicting_servers`: "0x9 1x30"}, 14, 15},
	{"RedisNearlyFull", metricSeries{`redis_memory_used_bytes{server="redis:6379"}`: "80x9 90x30"}, 14, 15},
	{"OutboxNotDraining", metricSeries{`outbox_oldest_age_seconds`: "1x9 61+60x30"}, 14, 15},
	{"NoRelay", metricSeries{`job_last_success_timestamp_seconds{job="relay"}`: none}, 4, 5},
	{"DeadLetters", metricSeries{`dlq_messages{consumer="daybook"}`: "0x9 1x30"}, 10, 11},
	{"BrokerNotConnected", metricSeries{`rabbit_connected{role="publisher"}`: "1x9 0x30"}, 11, 12},
	{"BrokerBlocks", metricSeries{`rabbit_blocked{role="publisher"}`: "0x9 1x30"}, 10, 11},
	{"QueueDiffers", metricSeries{`rabbit_queue_differs{queue="store.order.paid"}`: "0x9 1x30"}, 14, 15},
	{"InstanceDown", metricSeries{`up{job="comanda"}`: "1x9 0x30"}, 10, 11},
	{"DatabaseUnavailable", metricSeries{`job_last_success_timestamp_seconds{job="measure"}`: "0+60x9 540x30"}, 10, 13},
	{"SweeperLate", metricSeries{`job_last_success_timestamp_seconds{job="reservations"}`: "0+60x9 540x30"}, 10, 13},
	{"NoWorker", metricSeries{`job_last_success_timestamp_seconds{job="sweeper"}`: none}, 4, 5},
	{"LoopFails", metricSeries{`job_errors_total{job="sweeper"}`: "0+50x40"}, 5, 15},
	{"LoopPanics", metricSeries{`job_panics_total{job="sweeper"}`: "0x9 1x30"}, 9, 10},
	{"ServerErrors", metricSeries{`http_server_request_duration_seconds_count{status="503"}`: "0+100x40"}, 5, 15},
	{"LettersStuck", metricSeries{`mail_dead`: "0x9 1x30"}, 14, 15},
	{"LettersStuck", metricSeries{`mail_oldest_age_seconds`: "10x9 301x30"}, 14, 15},
	{"TokenReuse", metricSeries{`auth_refresh_reuse_total`: "0x9 1x30"}, 9, 10},
	{"DecidingClockSet", metricSeries{`clock_steps_total{clock="deciding",direction="back"}`: "1x9 2x30"}, 9, 10},
	{"MachineClockSet", metricSeries{`clock_steps_total{clock="machine",direction="any"}`: "3x9 4x30"}, 9, 10},
	{"ClockInDoubt", metricSeries{`clock_settled`: "1x9 0x30"}, 11, 12},
	{"ClockNotMeasured", metricSeries{`clock_measurement_age_seconds`: "10x9 301+60x30"}, 10, 11},
	{"ClockOff", metricSeries{`clock_offset_seconds`: "0x9 -3x30"}, 14, 15},
	{"RefundDue", metricSeries{`refund_obligation_oldest_age_seconds`: "100x9 901+60x30"}, 10, 11},
	{"PaymentsStuck", metricSeries{`payment_stuck{state="REVIEW"}`: "0x9 1x30"}, 19, 20},
	{"CallbacksForged", metricSeries{`payment_callback_total{method="VNPAY",result="forged"}`: "0x9 1x30"}, 9, 10},
}

func TestAlerts_quietInHealth(t *testing.T) {
	rules := readRules(t)
	series := healthy.series(t)
	for minute := range 40 {
		if firing := firingAlerts(t, rules, series, minute); len(firing) > 0 {
			t.Fatalf("after %d minutes: %v", minute, firing)
		}
	}
}

// Each alert fires on its fault, not too early, and no other alert fires.
func TestAlerts_fire(t *testing.T) {
	rules := readRules(t)
	seen := map[string]bool{}
	for _, f := range faults {
		seen[f.alert] = true
		t.Run(f.alert, func(t *testing.T) {
			now := maps.Clone(healthy)
			for name, values := range f.wrong {
				if _, ok := healthy[name]; !ok {
					t.Fatalf("%s is not among the healthy ones", name)
				}
				now[name] = values
			}
			series := now.series(t)
			if firing := firingAlerts(t, rules, series, f.quiet); len(firing) > 0 {
				t.Errorf("after %d minutes: %v", f.quiet, firing)
			}
			if diff := cmp.Diff([]string{f.alert}, firingAlerts(t, rules, series, f.loud)); diff != "" {
				t.Errorf("alerts after %d minutes (-want +got):\n%s", f.loud, diff)
			}
		})
	}
	for _, r := range rules {
		if !seen[r.Alert] {
			t.Errorf("nothing has %s fire", r.Alert)
		}
	}
}

func readRules(t *testing.T) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile("../../deploy/prometheus/alerts.yml", false, model.UTF8Validation)
	for _, err := range errs {
		t.Fatal(err)
	}
	var rules []rulefmt.Rule
	for _, g := range groups.Groups {
		rules = append(rules, g.Rules...)
	}
	return rules
}

// series returns the values in the form of a Prometheus storage.
func (f metricSeries) series(t *testing.T) []storage.Series {
	t.Helper()
	var all []storage.Series
	for name, text := range f {
		if text == none {
			continue
		}
		metric, values := testenv.Must2(parser.ParseSeriesDesc(name + " " + text))(t)
		s := promql.Series{Metric: metric}
		for i, v := range values {
			s.Floats = append(s.Floats, promql.FPoint{T: int64(i) * time.Minute.Milliseconds(), F: v.Value})
		}
		all = append(all, promql.NewStorageSeries(s))
	}
	return all
}

// firingAlerts returns the alerts that fire at the end of a minute when rules are evaluated each minute.
func firingAlerts(t *testing.T, rules []rulefmt.Rule, series []storage.Series, minute int) []string {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute})
	defer func() { _ = engine.Close() }()
	store := &storage.MockQueryable{MockQuerier: &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, by ...*labels.Matcher) storage.SeriesSet {
			return &selector{of: slices.DeleteFunc(slices.Clone(series), func(s storage.Series) bool { return !matches(s, by) })}
		},
	}}
	var firing []string
	for _, r := range rules {
		from := time.Duration(minute)*time.Minute - time.Duration(r.For)
		if from < 0 {
			continue
		}
		at := func(d time.Duration) time.Time { return time.Unix(0, 0).Add(d) }
		q, err := engine.NewRangeQuery(t.Context(), store, nil, r.Expr, at(from), at(from+time.Duration(r.For)), time.Minute)
		if err != nil {
			t.Fatalf("alert %s: %v", r.Alert, err)
		}
		all, err := q.Exec(t.Context()).Matrix()
		if err != nil {
			t.Fatalf("alert %s: %v", r.Alert, err)
		}
		if slices.ContainsFunc(all, func(s promql.Series) bool {
			return len(s.Floats) == int(time.Duration(r.For)/time.Minute)+1 // in every minute
		}) {
			firing = append(firing, r.Alert)
		}
		q.Close()
	}
	return firing
}

func matches(s storage.Series, by []*labels.Matcher) bool {
	return !slices.ContainsFunc(by, func(m *labels.Matcher) bool { return !m.Matches(s.Labels().Get(m.Name)) })
}

// selector is a series selector of a query.
type selector struct {
	of []storage.Series
	at int
}

func (f *selector) Next() bool                        { f.at++; return f.at <= len(f.of) }
func (f *selector) At() storage.Series                { return f.of[f.at-1] }
func (f *selector) Err() error                        { return nil }
func (f *selector) Warnings() annotations.Annotations { return nil }

// An alert on a metric or label that is not exported would never fire.
func TestAlerts_query_exported_metrics(t *testing.T) {
	known := exported(t)
	for _, r := range readRules(t) {
		expr := testenv.Must(parser.ParseExpr(r.Expr))(t)
		parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
			s, ok := n.(*parser.VectorSelector)
			if !ok || s.Name == "up" { // Prometheus adds it itself
				return nil
			}
			name := s.Name
			if _, ok := known[name]; !ok {
				name = strings.TrimSuffix(name, "_count")
			}
			has, ok := known[name]
			if !ok {
				t.Errorf("%s: %s is not exported", r.Alert, s.Name)
				return nil
			}
			for _, m := range s.LabelMatchers {
				if m.Name != model.MetricNameLabel && !slices.Contains(has, m.Name) {
					t.Errorf("%s: %s has no label %s", r.Alert, s.Name, m.Name)
				}
			}
			return nil
		})
	}
}

var metricDesc = regexp.MustCompile(`fqName: "([^"]+)".*constLabels: \{(.*)\}, variableLabels: \{([^}]*)\}`)

// exported returns the labels of every metric of a process with all roles and a broker.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	p := startProcess(t, map[string]string{
		"COMANDA_AMQP_URL": "amqp://127.0.0.1:1/", "COMANDA_SMTP_URL": "smtp://127.0.0.1:1",
		"COMANDA_MAIL_FROM": "house@example.com", "COMANDA_SIMULATORS": "on",
	}, API, Worker, Relay)
	descs := make(chan *prometheus.Desc, 1000)
	p.registry.Describe(descs)
	close(descs)
	all := map[string][]string{}
	for d := range descs {
		m := metricDesc.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("%s cannot be read", d)
		}
		for l := range strings.SplitSeq(m[2]+","+m[3], ",") {
			name, _, _ := strings.Cut(l, "=")
			all[m[1]] = append(all[m[1]], strings.TrimSpace(name))
		}
	}
	return all
}

// Every alert links to a section of the runbook.
func TestAlerts_link_the_runbook(t *testing.T) {
	book := testenv.Must(os.ReadFile("../../docs/runbook.md"))(t)
	anchors := map[string]bool{}
	for _, h := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(string(book), -1) {
		plain := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(h[1]), "")
		anchors["docs/runbook.md#"+strings.ReplaceAll(plain, " ", "-")] = true
	}
	for _, r := range readRules(t) {
		if link := r.Annotations["runbook_url"]; !anchors[link] {
			t.Errorf("%s: the runbook has no %s", r.Alert, link)
		}
		if r.Annotations["summary"] == "" || !slices.Contains([]string{"critical", "warning", "info"}, r.Labels["severity"]) {
			t.Errorf("%s has no summary, or another severity than it may", r.Alert)
		}
	}
}
