package paymentsql

import (
	"context"
	"time"

	"comanda/internal/sqldb"
)

// MoveDeadlines moves the times of checks and of sending refunds, and the creation time of attempts that were not sent
// to a gateway yet, after the deciding clock was moved by the same span. It returns the number of moved checks and
// refunds. Without it a clock that was set forward would make every check due at once, and one that was set back would
// delay refunds by hours. The caller moves all deadlines of the installation in one transaction.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	if _, err := tx.Exec(ctx, stmt("attempt_age_move"), by.Milliseconds()); err != nil {
		return 0, err
	}
	checks, err := tx.Exec(ctx, stmt("attempt_deadline_move"), by.Milliseconds())
	if err != nil {
		return 0, err
	}
	sends, err := tx.Exec(ctx, stmt("refund_deadline_move"), by.Milliseconds())
	return checks + sends, err
}
