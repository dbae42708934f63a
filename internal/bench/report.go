package bench

import (
	"time"

	"comanda/internal/bench/load"
)

// Report is the result of a run. It is also the output of "comanda bench" as JSON. Optional parts that were not
// measured are missing.
type Report struct {
	At       time.Time `json:"at"`
	Machine  Machine   `json:"machine"`
	Database string    `json:"database"`
	Redis    string    `json:"redis"`
	Seconds  float64   `json:"secondsPerMeasurement"`

	Orders     []OrderLoad `json:"orders"`         // at full speed, by number of connections
	Half       Load        `json:"halfLoad"`       // paced at half of the best rate, latency from the due time
	Refusals   Load        `json:"refusals"`       // of a sold-out dish
	Menu       Load        `json:"menu"`           // bodies, plain
	Compressed Load        `json:"menuCompressed"` // bodies, compressed as browsers request them
	Unchanged  Load        `json:"menuUnchanged"`  // 304 instead of a body

	Members *MemberLoads `json:"members,omitempty"`
	Notices *NoticeLoads `json:"notices,omitempty"`

	Reservations *ReservationLoads `json:"reservations,omitempty"`

	Limits Limits `json:"limits"`
	Memory Memory `json:"memory"`
}

// Machine describes the machine of the run.
type Machine struct {
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	Go        string `json:"go"`
	OS        string `json:"os"`
}

// Load is one measurement over HTTP. Errors counts by kind, such as "status 503"; requests without a response are among
// them.
type Load struct {
	Conns     int              `json:"connections"`
	Rate      float64          `json:"pacedPerSecond,omitempty"` // 0: at full speed
	PerSecond float64          `json:"perSecond"`
	P50       float64          `json:"p50Ms"`
	P95       float64          `json:"p95Ms"`
	P99       float64          `json:"p99Ms"`
	Max       float64          `json:"maxMs"`
	BodyBytes float64          `json:"bodyBytes"` // per response
	Errors    map[string]int64 `json:"errors,omitempty"`
}

// OrderLoad is a measurement of orders with its costs.
type OrderLoad struct {
	Load
	Batches Batches `json:"batches"`
	CPU     []Cost  `json:"cpu,omitempty"`
	Drain   float64 `json:"drainSeconds"` // from the last response until every event was published and applied
}

// Batches are batch sizes; 0 if unknown.
type Batches struct {
	Commit float64 `json:"ordersPerCommit"`
	Try    float64 `json:"ordersPerTry"`
	Held   float64 `json:"ordersPerHeld"`
	Cold   float64 `json:"withoutGate"` // share of orders that the admission cache could not decide
}

// Cost is the CPU time per order in one process.
type Cost struct {
	Process string  `json:"process"`
	Micros  float64 `json:"microsPerOrder"`
}

// Limits are the raw limits of the machine: each stage alone, and all of them in sequence.
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

// Memory is the memory per order, and the server's own.
type Memory struct {
	HoldKey   int64   `json:"redisBytesPerHoldKey"`           // MEMORY USAGE of one hold's record
	Hold      float64 `json:"redisBytesPerHold"`              // growth of used_memory per new hold
	IdleRSS   int64   `json:"serverIdleBytes,omitempty"`      // RSS before the first request
	LoadedRSS int64   `json:"serverAfterLoadBytes,omitempty"` // RSS after the last request
}

// Best returns the load with the highest throughput. Without any load it is the zero value.
func (r Report) Best() OrderLoad {
	var best OrderLoad
	for _, o := range r.Orders {
		if o.PerSecond > best.PerSecond {
			best = o
		}
	}
	return best
}

// loadOf converts a result. rate is 0 for a load at full speed.
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

// imply computes the limit of all stages in sequence; it is unknown if a stage was not measured.
func (l *Limits) imply(product float64) {
	if l.Echo.PerSecond <= 0 || l.Script.PerSecond <= 0 || l.Commit.PerSecond <= 0 {
		return
	}
	l.Implied = 1 / (1/l.Echo.PerSecond + 1/l.Script.PerSecond + 1/l.Commit.PerSecond)
	l.Ratio = product / l.Implied
}
