package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"comanda/internal/bench/load"
	"comanda/internal/catalog"
	"comanda/internal/sqldb"
	"comanda/internal/visit"
)

// The branch with options has the same dishes as the other one, each with two groups of three options. No group is
// required, so that the same dish can be ordered with and without options.
const (
	optionBranch     = 9002
	optionBranchName = "Comanda benchmark, options"
	optionFirstID    = 9_200_001
	groupCount       = 2
	choiceCount      = 3 // of each group
	choicePrice      = 5_000
)

// OptionLoads compares orders of three lines with two options each with orders of the same lines without, and the menu
// of a branch whose dishes have options with the menu of one whose dishes have none.
type OptionLoads struct {
	With    RoundsLoad `json:"with"`
	Without RoundsLoad `json:"without"` // alternating with them, in the same branch
	Rounds  int        `json:"rounds"`
	Ratio   float64    `json:"timeOfWithOverWithout"` // median of the rounds

	Menu      Load    `json:"menuCompressed"`                 // of the branch with options
	MenuRatio float64 `json:"menuBytesCompressedOverWithout"` // to the other branch's
}

// SeedOptions creates the branch with options beside the restaurant of Seed, and returns the QR tokens of its tables. Data
// of an earlier run is reused.
func SeedOptions(ctx context.Context, db *sqldb.DB) ([]string, error) {
	now := db.Now().UnixMilli()
	err := db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		fresh, err := tx.Exec(ctx, stmt("branch_insert"), optionBranch, optionBranchName, now)
		if err != nil || fresh == 0 {
			return err
		}
		queueMenu(tx, now, optionBranch, optionBranchName, optionFirstID, "O")
		names := func(i int) string { return texts("Nhóm tùy chọn %d", "Options %d", i) }
		id := func(i int) int64 { return int64(firstID + i) }
		tx.Queue(stmt("option_group_insert"), sqldb.NewRowSet(groupCount).Int("id", id).Text("names", names), now)
		tx.Queue(stmt("option_choice_insert"), sqldb.NewRowSet(groupCount*choiceCount).Int("id", id).
			Int("group_id", func(i int) int64 { return id(i / choiceCount) }).
			Text("names", func(i int) string { return texts("Tùy chọn số %d", "Option no. %d", i) }))
		tx.Queue(stmt("option_rules_insert"), optionBranch)
		tx.Queue(stmt("option_prices_insert"), optionBranch, choicePrice)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return sqldb.Collect(ctx, db, sqldb.Value[string], stmt("qr_list"), optionBranch)
}

// queueMenu queues a branch's menu of all dishes, and its tables. Their ids begin at first.
func queueMenu(tx sqldb.Tx, now, branch int64, name string, first int, label string) {
	id := func(i int) int64 { return int64(first + i) }
	items := sqldb.NewRowSet(itemCount).Int("id", id).
		Int("dish_id", func(i int) int64 { return int64(firstID + i) }).
		Int("quota", func(i int) int64 {
			if i == itemCount-1 {
				return 0
			}
			return catalog.MaxQuota
		}).
		Int("price", func(int) int64 { return itemPrice })
	tx.Queue(stmt("menu_insert"), branch, name)
	tx.Queue(stmt("item_insert"), items, branch)
	tx.Queue(stmt("version_insert"), branch, now)
	tx.Queue(stmt("entry_insert"), items, branch)
	tables := sqldb.NewRowSet(tableCount).Int("id", id).
		Text("label", func(i int) string { return fmt.Sprint(label, i+1) }).
		Text("token", func(int) string { return visit.NewQRToken() })
	tx.Queue(stmt("table_insert"), tables, branch)
	tx.Queue(stmt("qr_insert"), tables, now)
}

// chosenOptions returns the member of an order's line that chooses one option of each group.
func chosenOptions() string {
	var chosen []map[string]any
	for g := range groupCount {
		chosen = append(chosen, map[string]any{"optionId": strconv.Itoa(firstID + g*choiceCount + g), "qty": 1})
	}
	b, _ := json.Marshal(chosen) // strings and numbers always marshal
	return `,"options":` + string(b)
}

// options measures orders with options and orders without in turn, over the connections of the best load.
func (s *session) options(ctx context.Context) error {
	conns := s.report.Best().Conns
	plain, err := openTables(ctx, s.target, s.OptionTokens, conns)
	if err != nil {
		return err
	}
	defer plain.close()
	s.settle(ctx)
	withOptions := *plain
	withOptions.options = chosenOptions()
	with := contender{name: "the product with options", target: s.target, pid: s.PID, product: &withOptions}
	without := contender{name: "the product", target: s.target, pid: s.PID, product: plain}
	with.count = func(ctx context.Context) (floorCounts, error) {
		orders, commits, err := plain.countHolds(ctx, s.db, 0)
		return floorCounts{orders, commits}, err
	}
	without.count = with.count
	var ratios []float64
	for range floorRounds {
		var reached [2]float64
		for i, c := range []*contender{&without, &with} {
			if reached[i], err = s.measureRound(ctx, c); err != nil {
				return err
			}
		}
		ratios = append(ratios, reached[0]/reached[1])
	}
	o := &OptionLoads{
		With: with.resultPerOrder(), Without: without.resultPerOrder(), Rounds: floorRounds, Ratio: median(ratios),
	}
	menu := load.Plan{Conns: min(conns, s.Conns[0]), Want: http.StatusOK, Requests: plain.menus("Accept-Encoding", "gzip")}
	if o.Menu, err = s.ask(ctx, menu); err != nil {
		return err
	}
	o.MenuRatio = o.Menu.BodyBytes / s.report.Compressed.BodyBytes
	s.report.Options = o
	return nil
}
