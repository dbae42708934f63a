package payment

import (
	"time"

	"comanda/internal/money"
)

// AmountMismatch is a capture that a gateway reports with another amount or currency than the attempt has. It pays no
// order and is not refunded automatically: staff must resolve it. Repeated reports are one mismatch. It is identified
// by attempt, amount and currency: another amount for the same attempt is another mismatch.
type AmountMismatch struct {
	AttemptID  string
	OrderID    string
	Amount     int64          // as reported
	Currency   money.Currency // as reported
	ReportedAt time.Time      // first report
}
