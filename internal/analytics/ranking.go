package analytics

import (
	"cmp"
	"context"
	"slices"
	"time"

	"comanda/internal/catalog"
)

// RankBoard is the measure by which a ranking orders dishes.
type RankBoard string

// The boards.
const (
	Sold   RankBoard = "sold"   // units in paid orders
	Viewed RankBoard = "viewed" // views
)

// RankPeriod is the business dates of a ranking. Its text is part of a key: d-2026-02-26 is a day, w-2026-02-26 the seven
// days that end with it.
type RankPeriod string

// DayOf returns the period of one business date.
func DayOf(date string) RankPeriod { return RankPeriod("d-" + date) }

// WeekOf returns the period of the seven business dates that end with date.
func WeekOf(date string) RankPeriod { return RankPeriod("w-" + date) }

// span returns the first and the last business date.
func (p RankPeriod) span() (from, to string) {
	kind, to := p[:1], string(p[2:])
	if kind == "d" {
		return to, to
	}
	last, err := time.Parse(time.DateOnly, to)
	if err != nil {
		return to, to
	}
	return last.AddDate(0, 0, -6).Format(time.DateOnly), to
}

// Score is a dish in a ranking.
type Score struct{ Dish, N int64 }

// ByScore compares dishes by descending score, and equal scores by dish, so that a ranking has one order.
func ByScore(a, b Score) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Dish, b.Dish)) }

// maxRank is the maximum number of dishes in a ranking. Menus have fewer.
const maxRank = 1000

// Rankings stores rankings. A lost one is computed again from SQL.
type Rankings interface {
	// SetRank replaces a ranking; an empty one is removed.
	SetRank(ctx context.Context, board RankBoard, branch int64, p RankPeriod, all []Score) error
	// Rank returns up to n dishes, the highest score first and equal scores by dish. It is empty for a missing ranking.
	Rank(ctx context.Context, board RankBoard, branch int64, p RankPeriod, n int) ([]Score, error)
}

// RankDays computes the rankings of the current business dates.
func (s *Service) RankDays(ctx context.Context) error { return s.rankAll(ctx, DayOf) }

// RankWeeks computes the rankings of the last seven business dates.
func (s *Service) RankWeeks(ctx context.Context) error { return s.rankAll(ctx, WeekOf) }

// rankAll computes the rankings of a period for each branch, by the branch's own calendar.
func (s *Service) rankAll(ctx context.Context, period func(date string) RankPeriod) error {
	branches, err := s.Store.Branches(ctx)
	if err != nil {
		return err
	}
	for _, id := range branches {
		b, err := s.Menus.Branch(ctx, id)
		if err != nil {
			return err
		}
		p := period(b.Calendar().BizDate(s.Now()))
		for _, board := range []RankBoard{Sold, Viewed} {
			if _, err := s.rank(ctx, board, id, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// rank computes a ranking from SQL and stores it (AN5). If Redis is unreachable, it returns no error: readers use SQL then.
func (s *Service) rank(ctx context.Context, board RankBoard, branch int64, p RankPeriod) ([]Score, error) {
	from, to := p.span()
	all, err := s.Store.Scores(ctx, board, branch, from, to)
	if err != nil {
		return nil, err
	}
	all = all[:min(len(all), maxRank)]
	_ = s.Cache.SetRank(ctx, board, branch, p, all)
	return all, nil
}

// Top returns up to n dishes of a ranking, the highest score first. A ranking that is missing is computed.
func (s *Service) Top(ctx context.Context, board RankBoard, branch int64, p RankPeriod, n int) ([]Score, error) {
	top, err := s.Cache.Rank(ctx, board, branch, p, n)
	if err == nil && len(top) > 0 {
		return top, nil
	}
	all, err := s.rank(ctx, board, branch, p)
	return all[:min(len(all), n)], err
}

// Thresholds of Popular. Below them a row of popular dishes would show what one table has ordered.
const (
	MinSold     = 5 // units of a dish that were sold today
	MinPopular  = 3 // dishes
	maxPopular  = 8
	popularRank = 50 // dishes that are examined, because some may be sold out
)

// Popular returns the dishes that sold best on the current business date and can be ordered now, best first. It is
// empty while the branch takes no orders, and if fewer than MinPopular dishes have sold MinSold units.
func (s *Service) Popular(ctx context.Context, branch int64) ([]int64, error) {
	menu, err := s.LiveMenus.Get(ctx, branch)
	if err != nil || menu.Pause != nil || menu.Closure != nil {
		return nil, err
	}
	top, err := s.Top(ctx, Sold, branch, DayOf(menu.Date), popularRank)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	dishes := make([]int64, 0, maxPopular)
	for _, d := range top {
		if d.N >= MinSold && len(dishes) < maxPopular && orderable(menu, d.Dish, now) {
			dishes = append(dishes, d.Dish)
		}
	}
	if len(dishes) < MinPopular {
		return nil, nil
	}
	return dishes, nil
}

// orderable reports whether a dish is on the menu in force for any kind of order, and not sold out.
func orderable(menu *catalog.LiveMenu, dish int64, now time.Time) bool {
	return slices.ContainsFunc(
		[]catalog.OrderKind{catalog.DineIn, catalog.PickUp, catalog.Delivery}, func(kind catalog.OrderKind) bool {
			it, ok := menu.OfDish(dish, kind)
			if !ok || !it.Active || !it.Shown(kind) || !menu.InForce(it, kind, now) {
				return false
			}
			left, limited := menu.Left(it.ID)
			return !limited || left > 0
		})
}
