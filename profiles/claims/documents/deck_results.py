"""001, from line 1238 on: the slides on bounds, sparsity and experiments."""

from functools import partial

from flashscope.profiles.claims.experiments import low_rank, recorded, traffic
from flashscope.profiles.claims.experiments.arithmetic import computed_number
from flashscope.profiles.claims.experiments.gpu import history, needs_training
from flashscope.profiles.claims.experiments.shared import longest_run
from flashscope.profiles.claims.model import Claim, not_here

_claim = partial(Claim, "001")
EIGHT_A100 = "eight A100s, the data and the time"

CLAIMS: tuple[Claim, ...] = (
    _claim(
        (1254, 1264),
        "(N²d² / M²) phases that move M each make N²d² / M.",
        computed_number(
            "1",
            lambda: 4096**2 * 64**2 / 49152**2 * 49152 / (4096**2 * 64**2 / 49152),
            "their product over it",
        ),
    ),
    _claim(
        (1266,), "No exact algorithm moves less.", not_here("a proof about all algorithms; a run shows one")
    ),
    _claim((1304,), "With a share s of the blocks the traffic falls to s.", traffic.block_sparse()),
    _claim((1326, 1329), "Linformer is an approximation that loses token interactions.", low_rank.loses()),
    _claim((1331,), "Linformer needs fewer operations than exact attention.", low_rank.fewer_operations()),
    _claim(
        (1331,),
        "Linformer's real speed-up is limited by memory traffic.",
        low_rank.limited_speedup(),
        part="b",
    ),
    _claim((1331,), "Linformer's real speed-up is limited in PyTorch, too.", low_rank.in_torch(), part="c"),
    _claim((1352,), "Linformer reaches 64k tokens.", low_rank.reaches(65_536)),
    _claim((1339,), "GPT-2 small took about 9.5 days with HuggingFace.", needs_training(EIGHT_A100)),
    _claim((1340, 1413), "GPT-2 small took 4.7 days with Megatron-LM.", needs_training(EIGHT_A100)),
    _claim(
        (1345,),
        "FlashAttention trains GPT-2 up to 3.5 times as fast.",
        computed_number("3.5", lambda: 9.5 / 2.7, "9.5 / 2.7 days"),
    ),
    _claim(
        (1351,),
        "Before FlashAttention most models had a context of 2k.",
        history("it is about models, not kernels"),
    ),
    _claim(
        (1357,), "FlashAttention allows exact attention at 4k and more.", longest_run("flash2", 4096, 1 << 30)
    ),
    _claim((1368, 1374), "BERT-large trained in 20.0 and 17.4 minutes.", needs_training(EIGHT_A100)),
    _claim(
        (1376,),
        "17.4 minutes are 15% faster than 20.0.",
        computed_number("15", lambda: (20.0 / 17.4 - 1) * 100, "20.0 / 17.4 − 1, in percent"),
    ),
    _claim((1388, 1392), "GPT-2 reaches perplexities of 18.2 and 14.3.", needs_training(EIGHT_A100)),
    _claim((1396,), "GPT-2 medium trains 3 times as fast.", needs_training(EIGHT_A100)),
    _claim((1414, 1416), "GPT-2 small takes 2.7 to 3.6 days at 1k to 4k.", needs_training(EIGHT_A100)),
    _claim((1418,), "4k is 4 times the context.", computed_number("4", lambda: 4096 / 1024, "4k / 1k")),
    _claim(
        (1418,),
        "At 4k the perplexity is 0.7 better.",
        computed_number("0.7", lambda: 18.2 - 17.5, "18.2 − 17.5"),
        part="b",
    ),
    _claim(
        (1418,),
        "GPT-2 at 4k still trains 30% faster than Megatron-LM's at 1k.",
        computed_number("30", lambda: (4.7 / 3.6 - 1) * 100, "4.7 / 3.6 days − 1, in percent", 0.05),
        part="c",
    ),
    _claim(
        (1428,),
        "Longer contexts classify long documents better.",
        needs_training("the data of both tasks, and GPUs"),
    ),
    _claim(
        (1451,), "Path-X has 16k tokens.", computed_number("16384", lambda: 128 * 128, "128 × 128 pixels")
    ),
    _claim(
        (1451,),
        "Path-256 has 64k tokens.",
        computed_number("65536", lambda: 256 * 256, "256 × 256 pixels"),
        part="b",
    ),
    _claim(
        (1459, 1460, 1474),
        "FlashAttention solves Path-X to 61.4%, block-sparse Path-256 to 63.1%.",
        needs_training(EIGHT_A100),
    ),
    _claim(
        (1481,), "FlashAttention is ahead of block-sparse because it is exact.", needs_training(EIGHT_A100)
    ),
    _claim((1523,), "The speed-up is smaller at d = 128 than at d = 64.", recorded.smaller_for_wide_heads()),
)
