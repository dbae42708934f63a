package limit

import "time"

// Result is the decision about a request. The HTTP headers for rate limits are computed from it. Durations are whole
// milliseconds, as the script in Redis counts.
type Result struct {
	Policy    *Policy
	OK        bool
	Retry     time.Duration // until the next request is allowed; zero if this one was
	Remaining int           // requests that are allowed now
	Reset     time.Duration // until the whole burst is available again
}

// Reserve decides one request. tat is the stored theoretical arrival time of the subject, zero if unknown, and now the
// current time, both in Unix milliseconds. It returns the value to store; a refusal leaves it unchanged. A tat beyond
// now plus the window comes from a clock that went back, and is cut to the window. It is pure: Memory and limitredis
// both decide by it, so a subject sees the same limit whichever store answers.
func (p *Policy) Reserve(tat, now int64) (next int64, v Result) {
	tat = p.clamp(tat, now)
	every, window := p.Interval.Milliseconds(), p.Window().Milliseconds()
	if tat+every-now > window {
		return tat, p.result(tat, now, false)
	}
	return tat + every, p.result(tat+every, now, true)
}

// Peek is Reserve without taking anything.
func (p *Policy) Peek(tat, now int64) Result {
	tat = p.clamp(tat, now)
	return p.result(tat, now, tat+p.Interval.Milliseconds()-now <= p.Window().Milliseconds())
}

// clamp limits tat to the range from now to the end of a full window. The lower end forgets unused time beyond one
// burst. The upper end bounds what a wrong clock can cost a subject to one window.
func (p *Policy) clamp(tat, now int64) int64 {
	return min(max(tat, now), now+p.Window().Milliseconds())
}

// result describes a subject with the theoretical arrival time tat. Reset is the distance of tat from now: the time
// that the subject must make no request until its burst is full.
func (p *Policy) result(tat, now int64, ok bool) Result {
	every, window := p.Interval.Milliseconds(), p.Window().Milliseconds()
	v := Result{
		Policy: p, OK: ok, Remaining: int((window - (tat - now)) / every), Reset: time.Duration(tat-now) * time.Millisecond,
	}
	if !ok {
		v.Retry = time.Duration(tat+every-now-window) * time.Millisecond
	}
	return v
}
