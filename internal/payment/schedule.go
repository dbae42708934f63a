package payment

import "time"

// When and how often a gateway is checked for an attempt without a report. Most guests pay or leave within
// two minutes; a LINE Pay confirmation may take forty seconds; VNPay refuses queries more often than every five
// minutes and retries its own notifications for up to fifty.
const (
	checkRedirected = 2 * time.Minute
	checkConfirming = time.Minute
	checkUnknown    = 5 * time.Second
	checkReview     = time.Hour
	checkFailed     = time.Hour // after that, no page is open on which the guest could use another card
	askVNPay        = 5 * time.Minute
	askLINEPay      = time.Minute
	askLate         = time.Hour
	lateAfter       = 80 * time.Minute
	giveUpAfter     = 26 * time.Hour
)

// firstCheckAt returns the time of the first check in a state, or the zero time for none. CREATED has no page yet on
// which a guest could pay, and PAID is final. FAILED is checked again only where a page may still take another card.
func (m Method) firstCheckAt(s State, now time.Time) time.Time {
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

// NextCheck returns the time of the next check if this one does not settle the attempt, or the zero time to stop
// checking; the attempt is then left to the staff. The intervals of a FAILED attempt double, because its state rarely
// changes. It is checked at all because its page may have been paid with another card while this installation was
// offline.
func (a *Attempt) NextCheck(now time.Time) time.Time {
	age := now.Sub(a.CreatedAt)
	pause := askLINEPay
	switch {
	case age > giveUpAfter:
		return time.Time{}
	// This case precedes lateAfter, which would end the doubling. A pause equal to the attempt's age doubles the age
	// at each check.
	case a.State == Failed:
		pause = max(checkFailed, age)
	case age > lateAfter || a.State == Review:
		pause = askLate
	case a.Method == VNPay:
		pause = askVNPay
	case a.State == Unknown:
		// 5, 10, 20, 40 seconds, then a minute. The shift is bounded, so that many checks cannot overflow it.
		pause = min(checkUnknown<<min(a.Checks, 4), askLINEPay)
	}
	return now.Add(pause)
}

// refundTries is how many times a refund is sent to an unreachable gateway: for about three days. Its pauses double
// from one minute to two hours, so most of these tries are two hours apart.
const refundTries = 40

// RetryAt returns when to send a refund again if the current request gets no response. It always returns a time, even
// for the last try: if the process is killed, another one must find the refund. The shortest pause, a minute, is
// longer than a round of SendRefunds, so that two processes do not send one refund at the same time.
func (r *Refund) RetryAt(now time.Time) time.Time {
	return now.Add(min(time.Minute<<min(r.Tries, 7), 2*time.Hour))
}

// Exhausted reports whether a refund was sent refundTries times. It is then UNKNOWN and left to the staff.
func (r *Refund) Exhausted() bool { return r.Tries >= refundTries }
