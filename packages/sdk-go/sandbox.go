package simway

import (
	"context"
	"time"
)

// TopUp is the code of a magic package's top-up. MagicPackageSimNoTopup has none.
func (m MagicPackage) TopUp() string { return "TOPUP_" + string(m) }

// AdvanceClock is the test clock: it makes an eSIM of the sandbox older, by 1 second to 400 days, and does
// what is due in that time. Its answer is the eSIM as it then stands.
func (c *Client) AdvanceClock(ctx context.Context, esimID string, by time.Duration) (Esim, error) {
	return c.SandboxAdvanceEsimClock(ctx, esimID, SandboxClockRequest{AdvanceSeconds: int64(by / time.Second)})
}
