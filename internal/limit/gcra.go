package limit

import "time"

// Verdict is the answer to a request.
type Verdict struct {
	Policy    *Policy
	OK        bool
	Retry     time.Duration // until the next is granted, when this one was not
	Remaining int           // that would be granted now
	Reset     time.Duration // until all of the burst would be
}

// Step decides one request at an instant, both in Unix milliseconds. next is the instant at which what was granted will
// have been paid off, to be remembered for the subject; zero remembers nothing. A refusal changes nothing. An instant
// that lies further ahead than any grant can bring it comes from a clock that has gone back: it is cut to the window.
func (p *Policy) Step(tat, now int64) (next int64, v Verdict) {
	tat = p.settled(tat, now)
	every, window := p.Every.Milliseconds(), p.Window().Milliseconds()
	if tat+every-now > window {
		return tat, p.verdict(tat, now, false)
	}
	return tat + every, p.verdict(tat+every, now, true)
}

// Look is Step without taking anything: OK tells whether a request would be granted.
func (p *Policy) Look(tat, now int64) Verdict {
	tat = p.settled(tat, now)
	return p.verdict(tat, now, tat+p.Every.Milliseconds()-now <= p.Window().Milliseconds())
}

func (p *Policy) settled(tat, now int64) int64 {
	return min(max(tat, now), now+p.Window().Milliseconds())
}

// verdict describes a subject whose debt is paid off at tat.
func (p *Policy) verdict(tat, now int64, ok bool) Verdict {
	every, window := p.Every.Milliseconds(), p.Window().Milliseconds()
	v := Verdict{
		Policy: p, OK: ok, Remaining: int((window - (tat - now)) / every), Reset: time.Duration(tat-now) * time.Millisecond,
	}
	if !ok {
		v.Retry = time.Duration(tat+every-now-window) * time.Millisecond
	}
	return v
}
