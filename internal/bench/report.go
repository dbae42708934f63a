package bench

import (
	"time"

	"comanda/internal/bench/load"
)

// Report is what a run has found.
type Report struct {
	At       time.Time `json:"at"`
	Machine  Machine   `json:"machine"`
	Database string    `json:"database"`
	Redis    string    `json:"redis"`
	Seconds  float64   `json:"secondsPerMeasurement"`

	Orders     []OrderLoad `json:"orders"`         // as fast as they are answered, by number of connections
	Half       Load        `json:"halfLoad"`       // paced at half of the best, counted from when each was due
	Refusals   Load        `json:"refusals"`       // of a sold-out dish
	Menu       Load        `json:"menu"`           // bodies, plain
	Compressed Load        `json:"menuCompressed"` // bodies, as browsers ask for them
	Unchanged  Load        `json:"menuUnchanged"`  // 304 instead of a body

	Members *MemberLoads `json:"members,omitempty"`
	Notices *NoticeLoads `json:"notices,omitempty"`

	Reservations *ReservationLoads `json:"reservations,omitempty"`

	Limits Limits `json:"limits"`
	Memory Memory `json:"memory"`
}

// Machine is where the run took place.
type Machine struct {
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	Go        string `json:"go"`
	OS        string `json:"os"`
}

// Load is one measurement over HTTP.
type Load struct {
	Conns     int              `json:"connections"`
	Rate      float64          `json:"pacedPerSecond,omitempty"` // 0: as fast as they are answered
	PerSecond float64          `json:"perSecond"`
	P50       float64          `json:"p50Ms"`
	P95       float64          `json:"p95Ms"`
	P99       float64          `json:"p99Ms"`
	Max       float64          `json:"maxMs"`
	BodyBytes float64          `json:"bodyBytes"` // of one answer
	Errors    map[string]int64 `json:"errors,omitempty"`
}

// OrderLoad is a measurement of orders, with what it took.
type OrderLoad struct {
	Load
	Batches Batches `json:"batches"`
	CPU     []Cost  `json:"cpu,omitempty"`
	Drain   float64 `json:"drainSeconds"` // from the last answer until every event was published, applied and shown
}

// Batches is how many orders shared something; 0 where it could not be found out.
type Batches struct {
	Commit float64 `json:"ordersPerCommit"`
	Try    float64 `json:"ordersPerTry"`
	Held   float64 `json:"ordersPerHeld"`
	Cold   float64 `json:"withoutGate"` // share of the orders that the gate could not answer for
}

// Cost is the processor time of one order in one process.
type Cost struct {
	Process string  `json:"process"`
	Micros  float64 `json:"microsPerOrder"`
}

// Limits is what the machine could do at most, each stage alone and all of them one after the other.
type Limits struct {
	Echo    Load    `json:"echo"`
	Script  Rate    `json:"script"`
	Commit  Rate    `json:"commit"`
	Implied float64 `json:"impliedPerSecond"` // 1 / (1/echo + 1/script + 1/commit)
	Ratio   float64 `json:"productOverImplied"`
}

// Rate is a raw limit.
type Rate struct {
	PerSecond float64 `json:"perSecond"`
	Batch     float64 `json:"ordersPerBatch"`
}

// Memory is what is kept for an order, and the server's own.
type Memory struct {
	HoldKey   int64   `json:"redisBytesPerHoldKey"`           // MEMORY USAGE of one hold's record
	Hold      float64 `json:"redisBytesPerHold"`              // growth of used_memory over the number of new holds
	IdleRSS   int64   `json:"serverIdleBytes,omitempty"`      // before the first request
	LoadedRSS int64   `json:"serverAfterLoadBytes,omitempty"` // after the last
}

// Best is the load with the highest throughput.
func (r Report) Best() OrderLoad {
	var best OrderLoad
	for _, o := range r.Orders {
		if o.PerSecond > best.PerSecond {
			best = o
		}
	}
	return best
}

func loadOf(r *load.Result, rate float64) Load {
	l := Load{
		Conns: r.Conns, Rate: rate, PerSecond: r.PerSecond(), Errors: r.Errors,
		P50: millis(r.Latencies.Quantile(0.50)), P95: millis(r.Latencies.Quantile(0.95)),
		P99: millis(r.Latencies.Quantile(0.99)), Max: millis(r.Latencies.Max()),
	}
	if r.Done > 0 {
		l.BodyBytes = float64(r.Bytes) / float64(r.Done)
	}
	return l
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// imply puts the stages one after the other; a stage that was not measured makes the limit unknown.
func (l *Limits) imply(product float64) {
	if l.Echo.PerSecond <= 0 || l.Script.PerSecond <= 0 || l.Commit.PerSecond <= 0 {
		return
	}
	l.Implied = 1 / (1/l.Echo.PerSecond + 1/l.Script.PerSecond + 1/l.Commit.PerSecond)
	l.Ratio = product / l.Implied
}
