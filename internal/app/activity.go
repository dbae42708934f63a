package app

import (
	"context"
	"time"

	"comanda/internal/analytics"
	"comanda/internal/analytics/analyticsmemory"
	"comanda/internal/analytics/analyticsredis"
	"comanda/internal/authz"
	"comanda/internal/report"
	"comanda/internal/visit"
	"comanda/internal/worker"
)

// wireActivity creates the service that records who is here and on which dates members were active.
func (k *Core) wireActivity() {
	k.Activity = &analytics.Activity{Store: k.Views, Date: k.houseDate, Now: k.DB.Now}
	if k.Redis.InProcess() {
		k.Activity.Cache = analyticsmemory.NewLoginStore()
	} else {
		k.Activity.Cache = analyticsredis.NewLoginStore(k.Redis)
	}
	k.Reports.Members = memberFigures{k.Activity}
}

// followActivity takes the signs from the requests of guests and members. Any request with a valid token of a member is
// activity, so a member who stays logged in counts as well as one who logs in. Staff are no members.
func (k *Core) followActivity() {
	k.Guests.Seen = func(g visit.Guest, at time.Time) { k.Activity.GuestSign(g.BranchID, g.TokenHash, at) }
	k.Authenticator.Seen = func(a authz.Actor, at time.Time) {
		if a.Role == authz.RoleUser {
			k.Activity.MemberSign(a.UserID, at)
		}
	}
}

// houseDate returns the date of an instant for the whole restaurant: the first branch's business date. Members belong to no
// branch, and most houses have one time zone.
func (k *Core) houseDate(ctx context.Context, at time.Time) (string, error) {
	branches, err := k.Branches.Store.Branches(ctx)
	if err != nil || len(branches) == 0 {
		return at.UTC().Format(time.DateOnly), err
	}
	return branches[0].Calendar().BizDate(at), nil
}

// activityLoop writes signs. It runs in every process that serves requests, because each has signs of its own.
func (k *Core) activityLoop() worker.Loop {
	return worker.Loop{Name: "activity", Run: k.Activity.Flush, Every: 5 * time.Second, Timeout: 20 * time.Second}
}

// activityCheckLoop completes the bitmaps of the last two dates.
func (k *Core) activityCheckLoop() worker.Loop {
	return worker.Loop{
		Name: "activity_restore", Run: k.Activity.Restore, Every: 10 * time.Minute, Timeout: time.Minute,
	}
}

// purgeActivity deletes the dates past their retention.
func (k *Core) purgeActivity(ctx context.Context, now time.Time) error {
	before, err := k.houseDate(ctx, now.Add(-keepActivity))
	if err != nil {
		return err
	}
	return k.Views.PurgeActivity(ctx, before)
}

// memberFigures implements report.MemberFigures.
type memberFigures struct{ *analytics.Activity }

// MemberDays implements report.MemberFigures.
func (m memberFigures) MemberDays(ctx context.Context, from, to string) ([]report.MemberDay, error) {
	days, err := m.Members(ctx, from, to)
	all := make([]report.MemberDay, len(days))
	for i, d := range days {
		all[i] = report.MemberDay{
			Date: d.Date, Daily: d.Daily, Weekly: d.Weekly, Monthly: d.Monthly, Returning: d.Returning,
		}
	}
	return all, err
}
