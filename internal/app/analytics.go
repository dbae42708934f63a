package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/analytics"
	"comanda/internal/analytics/analyticshttp"
	"comanda/internal/analytics/analyticsmemory"
	"comanda/internal/analytics/analyticsredis"
	"comanda/internal/analytics/analyticssql"
	"comanda/internal/authz"
	"comanda/internal/keyspace"
	"comanda/internal/report"
	"comanda/internal/telemetry"
	"comanda/internal/uid"
	"comanda/internal/visit"
	"comanda/internal/worker"
)

// Retention of views and searches.
const (
	keepBatches = 24 * time.Hour      // longer than a process can hold a batch that it has taken
	keepSeen    = 90 * 24 * time.Hour // dishes that a member has looked at

	keepSearches  = 400 // days; reports cover 366 business dates
	keepVisitors  = 32  // days; suggestions need 30 business dates
	keepPositions = 8 * 24 * time.Hour
	keepActivity  = keyspace.LoginDayLife // dates on which members were active
)

// wireAnalytics creates the service of views and searches. One process counts in memory, as it does everything that Redis
// shares between processes.
func (k *Core) wireAnalytics(reg prometheus.Registerer) {
	k.Views = analyticssql.New(k.DB)
	k.Analytics = &analytics.Service{
		Store: k.Views, Menus: k.Menus, LiveMenus: k.LiveMenus, Now: k.DB.Now,
		NewID: func() string { return uid.New(k.DB.Now()) },
		Counted: telemetry.Metrics(reg).Counting("analytics_views_total", "Views of dishes and additions to carts, by result.",
			"result", analytics.Results()...),
		Searches: analytics.NewSearchCache(),
		CountedSearch: telemetry.Metrics(reg).Counting("analytics_searches_total", "Searches that phones report, by result.",
			"result", analytics.SearchResults()...),
	}
	k.wireActivity()
	if k.Redis.InProcess() {
		k.Analytics.Cache = analyticsmemory.New(k.DB.Now)
		return
	}
	k.Analytics.Cache, k.Analytics.Fallback = analyticsredis.New(k.Redis), analyticsmemory.New(k.DB.Now)
}

// viewsLoop adds counted views to SQL. It runs in every process that serves requests, because each has counters of its
// own while Redis is unreachable.
func (k *Core) viewsLoop() worker.Loop {
	return worker.Loop{Name: "views", Run: k.Analytics.Flush, Every: 5 * time.Second, Timeout: 20 * time.Second}
}

// rankingLoops compute the rankings. One day changes with every order, seven days hardly do.
func (k *Core) rankingLoops() []worker.Loop {
	return []worker.Loop{
		{Name: "rank_days", Run: k.Analytics.RankDays, Every: 15 * time.Second, Timeout: time.Minute},
		{Name: "rank_weeks", Run: k.Analytics.RankWeeks, Every: 10 * time.Minute, Timeout: 5 * time.Minute},
	}
}

// purgeViews deletes views, searches and their bookkeeping past their retention.
func (k *Core) purgeViews(ctx context.Context, now time.Time) error {
	if err := k.Views.Purge(ctx, now.Add(-keepBatches), now.Add(-keepSeen)); err != nil {
		return err
	}
	date := func(days int) string { return now.UTC().AddDate(0, 0, -days).Format(time.DateOnly) }
	return k.Views.PurgeSearches(ctx, date(keepSearches), date(keepVisitors), now.Add(-keepPositions))
}

// viewers implements analyticshttp.GuestFinder.
type viewers struct{ *visit.Guests }

// Guest implements analyticshttp.GuestFinder.
func (v viewers) Guest(ctx context.Context, token string) (analyticshttp.Guest, error) {
	g, err := v.Resolve(ctx, token)
	return analyticshttp.Guest{Branch: g.BranchID, Visit: g.VisitID, Hash: g.TokenHash}, err
}

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

// followActivity records the requests of guests and members. Any request with a valid token of a member is
// activity, so a member who stays logged in counts as well as one who logs in. Staff are not members.
func (k *Core) followActivity() {
	k.Guests.Seen = func(g visit.Guest, at time.Time) { k.Activity.GuestSeen(g.BranchID, g.TokenHash, at) }
	k.Authenticator.Seen = func(a authz.Actor, at time.Time) {
		if a.Role == authz.RoleUser {
			k.Activity.MemberSeen(a.UserID, at)
		}
	}
}

// houseDate returns the date of an instant for the whole restaurant: the first branch's business date. Members belong to no
// branch, and most restaurants have one time zone.
func (k *Core) houseDate(ctx context.Context, at time.Time) (string, error) {
	branches, err := k.Branches.Store.Branches(ctx)
	if err != nil || len(branches) == 0 {
		return at.UTC().Format(time.DateOnly), err
	}
	return branches[0].Calendar().BizDate(at), nil
}

// activityLoop writes recorded requests. It runs in every process that serves requests, because each records its own.
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
