package payment

import "time"

// How soon and how long a gateway is asked about an attempt that it says nothing about. Most guests pay or give up within
// two minutes; a confirmation has forty seconds to be answered; VNPay refuses to be asked more often than every five
// minutes, and takes up to fifty to report by itself.
const (
	checkRedirected = 2 * time.Minute
	checkConfirming = time.Minute
	checkUnknown    = 5 * time.Second
	checkReview     = time.Hour
	checkFailed     = time.Hour // when no page is open any more on which another card might have done
	askVNPay        = 5 * time.Minute
	askLINEPay      = time.Minute
	askLate         = time.Hour
	lateAfter       = 80 * time.Minute
	giveUpAfter     = 26 * time.Hour
)

// firstCheck tells when to ask for the first time in a state; zero for never.
func (m Method) firstCheck(s State, now time.Time) time.Time {
	switch s {
	case Failed:
		if m.Remote() {
			return now.Add(checkFailed)
		}
	case Redirected:
		return now.Add(checkRedirected)
	case Confirming:
		return now.Add(checkConfirming)
	case Unknown:
		return now.Add(checkUnknown)
	case Review:
		return now.Add(checkReview)
	}
	return time.Time{}
}

// NextCheck tells when to ask once more if this time does not help; zero when it is time to give up. Whoever gives up on
// an attempt leaves it for the staff to look at. Of one that has failed nothing more is expected, so the pauses double;
// but its page may have been paid on with another card while the house had no line, and then nobody else would tell.
func (a *Attempt) NextCheck(now time.Time) time.Time {
	age := now.Sub(a.CreatedAt)
	pause := askLINEPay
	switch {
	case age > giveUpAfter:
		return time.Time{}
	case a.State == Failed:
		pause = max(checkFailed, age)
	case age > lateAfter || a.State == Review:
		pause = askLate
	case a.Method == VNPay:
		pause = askVNPay
	case a.State == Unknown:
		pause = min(checkUnknown<<min(a.Checks, 4), askLINEPay)
	}
	return now.Add(pause)
}

// refundTries is how often a gateway that cannot be reached is told of a refund: for some three days.
const refundTries = 40

// RetryAt tells when to send a refund again that does not get through this time. There is always such a time: whoever
// sends it may be killed, also at the last try, and then the next one must find it.
func (r *Refund) RetryAt(now time.Time) time.Time {
	return now.Add(min(time.Minute<<min(r.Tries, 7), 2*time.Hour))
}

// GiveUp tells whether a refund was sent often enough, and is left to somebody who looks what has become of it.
func (r *Refund) GiveUp() bool { return r.Tries >= refundTries }
