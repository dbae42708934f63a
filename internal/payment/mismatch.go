package payment

import (
	"time"

	"comanda/internal/money"
)

// Mismatch is money of which a gateway says that it has moved, and which is not what an attempt has asked for. It pays
// nothing here and is given back by nobody: somebody must look. However often it is reported, it is one.
type Mismatch struct {
	AttemptID  string
	OrderID    string
	Amount     int64          // as the gateway says
	Currency   money.Currency // as the gateway says
	ReportedAt time.Time      // for the first time
}
