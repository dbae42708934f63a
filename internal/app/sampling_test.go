package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/demo"
	"comanda/internal/document"
	"comanda/internal/httpapi"
	"comanda/internal/testenv"
)

// documentServer is a process with a demo restaurant and complete documents on a redis-server of its own.
type documentServer struct {
	t      *testing.T
	p      *process
	redis  *testenv.Server
	client *http.Client
	dishes int
}

// demoDish is a dish on the menu of a branch of the demo.
const demoDish = 4

func newDocumentServer(t *testing.T, redis ...string) *documentServer {
	t.Helper()
	h := &documentServer{t: t, redis: testenv.RedisServer(t, redis...), client: &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(h.client.CloseIdleConnections)
	h.p = startProcess(t, map[string]string{"COMANDA_REDIS_URL": "redis://" + h.redis.Addr(), "COMANDA_LIMITS": "off"}, API, Worker, Relay)
	testenv.NoError(t, demo.Load(t.Context(), h.p.core.DB))
	total, err := h.p.core.documentStore.Total(t.Context(), document.Dish, document.Tally{})
	if err != nil || total.N == 0 {
		t.Fatalf("%d dishes, %v", total.N, err)
	}
	h.dishes = int(total.N)
	// The first round of sales writes all dishes. If that happened after a loss, it would restore the documents unseen.
	testenv.Eventually(t, 10*time.Second, func() bool {
		return len(readDish(t, h.p.core, demoDish).Branches) > 0 && h.ready().Status == "ok" && h.verified()
	})
	h.wantAllDishes()
	return h
}

func (h *documentServer) get(path string, into any) {
	h.t.Helper()
	r := testenv.Must(http.NewRequestWithContext(h.t.Context(), http.MethodGet, "http://"+h.p.server.Addr().String()+path,
		nil))(h.t)
	a, err := h.client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	if err := json.NewDecoder(a.Body).Decode(into); err != nil || a.StatusCode != http.StatusOK {
		h.t.Fatalf("GET %s: status %d, error %v, want 200 with JSON", path, a.StatusCode, err)
	}
}

func (h *documentServer) ready() (r httpapi.Readiness) {
	h.t.Helper()
	h.get("/readyz", &r)
	return r
}

// wantAllDishes expects that all dishes are shown.
func (h *documentServer) wantAllDishes() {
	h.t.Helper()
	var list struct {
		Items []any `json:"items"`
		Total int   `json:"total"`
	}
	if h.get("/dishes?size=100", &list); list.Total != h.dishes || len(list.Items) != h.dishes {
		h.t.Fatalf("%d of %d dishes, there are %d", len(list.Items), list.Total, h.dishes)
	}
}

func (h *documentServer) verified() bool {
	h.t.Helper()
	v := testenv.Must(h.p.core.systemService().VerifyDocuments(h.t.Context(), nil))(h.t)
	return v.Clean
}

// Whatever documents are deleted, guests always see all dishes, readiness reports the loss, and within ten seconds
// everything is restored automatically.
func TestDocuments_heal(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string][]string{
		"the list of dishes":    {"UNLINK dish:list"},
		"all lists and indexes": {"list", "index", "items", "orders", "details", "dishes", "permissions"},
		"everything but marks":  {"user", "role", "permission", "category", "dish", "cart", "order", "memo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newDocumentServer(t)
			if len(lost) == 1 {
				h.redis.Say(lost[0])
			} else {
				h.unlink(lost)
			}
			h.wantAllDishes()
			// The check is called directly: /readyz caches an answer for a second, in which a loss may be found and
			// repaired.
			testenv.Eventually(t, 30*time.Second, func() bool {
				h.wantAllDishes()
				err := h.p.core.Generation.Check(t.Context())
				return err != nil && strings.Contains(err.Error(), "lists are read from SQL")
			})
			begun := time.Now()
			testenv.Eventually(t, 30*time.Second, func() bool {
				h.wantAllDishes()
				return h.ready().Status == "ok" && h.verified()
			})
			t.Logf("whole again %v after the loss was seen; ten seconds are promised on a machine that does nothing else",
				time.Since(begun).Round(10*time.Millisecond))
			if _, ok := h.ready().Checks["documents"]; !ok {
				t.Error("/readyz does not ask about documents")
			}
			reg := prometheus.NewRegistry()
			reg.MustRegister(h.p.registry)
			// A loss is counted at the end of the pass that found it.
			testenv.Eventually(t, 10*time.Second, func() bool { return counterSum(t, reg, "document_lost_total") > 0 })
		})
	}
}

// unlink deletes the keys that contain one of the words between colons, except the markers.
func (h *documentServer) unlink(words []string) {
	h.t.Helper()
	for line := range strings.Lines(h.redis.Say("KEYS *")) {
		key := strings.TrimSpace(line)
		parts := strings.FieldsFunc(key, func(r rune) bool { return strings.ContainsRune(":{}", r) })
		for _, w := range words {
			if !strings.HasPrefix(key, "$") && !strings.HasPrefix(key, "document:") && slices.Contains(parts, w) {
				h.redis.Say("UNLINK " + key)
			}
		}
	}
}

// counterSum returns the sum of a counter over its labels.
func counterSum(t *testing.T, from prometheus.Gatherer, name string) (n float64) {
	t.Helper()
	all := testenv.Must(from.Gather())(t)
	for _, family := range all {
		for _, m := range family.GetMetric() {
			if family.GetName() == name {
				n += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return n
}

// restaurant-redis 9.2: a process goes on serving with a Redis that is nearly full, and says so. So does the doctor.
func TestReadiness_redis_nearly_full(t *testing.T) {
	t.Parallel()
	h := newDocumentServer(t, "--maxmemory-policy", "noeviction")
	used := testenv.Must(h.p.core.Redis.Memory(t.Context()))(t).Fullest().Used
	status := func(name string) string {
		for _, f := range Diagnose(t.Context(), h.p.core.Config).Findings {
			if f.What == name {
				return fmt.Sprintf("%v: %s", f.OK, f.Detail)
			}
		}
		return ""
	}
	if s := status("redis memory"); !strings.HasPrefix(s, "true: ") || !strings.Contains(s, "has no limit") {
		t.Errorf("without a limit the doctor says %q", s)
	}
	h.redis.Say(fmt.Sprint("CONFIG SET maxmemory ", used*20/19)) // 95 %
	testenv.Eventually(t, 10*time.Second, func() bool {
		r := h.ready() // fails on any status but 200
		c := r.Checks["redis_memory"]
		return r.Status == "degraded" && c.Status == "failed" && strings.Contains(c.Error, "% of its memory")
	})
	if s := status("redis memory"); !strings.HasPrefix(s, "false: ") || !strings.Contains(s, "raise it") {
		t.Errorf("the doctor says %q", s)
	}
	h.redis.Say(fmt.Sprint("CONFIG SET maxmemory ", used*10))
	testenv.Eventually(t, 10*time.Second, func() bool {
		r := h.ready()
		return r.Status == "ok" && r.Checks["redis_memory"].Status == "ok"
	})
}

// The doctor and a metric with an alert report a server that evicts keys when its memory is full.
func TestDoctor_evictions(t *testing.T) {
	t.Parallel()
	for policy, warned := range map[string]bool{"noeviction": false, "allkeys-lru": true, "volatile-ttl": true} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			h := newDocumentServer(t, "--maxmemory-policy", policy)
			d := Diagnose(t.Context(), h.p.core.Config)
			status := ""
			for _, f := range d.Findings {
				if f.What == "redis memory" {
					status = fmt.Sprintf("%v: %s", f.OK, f.Detail)
				}
			}
			if warned != strings.HasPrefix(status, "false: maxmemory-policy must be noeviction") || warned != strings.Contains(status, policy) {
				t.Errorf("the doctor says %q", status)
			}
			reg := prometheus.NewRegistry()
			reg.MustRegister(h.p.registry)
			testenv.Eventually(t, 10*time.Second, func() bool { return counterSum(t, reg, "redis_evicting_servers") > 0 == warned })
		})
	}
}
