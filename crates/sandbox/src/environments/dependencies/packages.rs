//! Which package provides a module.
//!
//! Only well-known packages are listed. A name that is not in the table is unknown: installing a package because it has
//! the same name as a module would let anyone who registers that name provide the code.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Packages whose module has another name, as `MODULE=PACKAGE`. Modules of namespace packages have several components.
const RENAMED: &str = "\
    absl=absl-py alpaca=alpaca-py ansible=ansible-core apscheduler=APScheduler atlassian=atlassian-python-api \
    attr=attrs attrs=attrs aws_cdk=aws-cdk-lib barcode=python-barcode bidi=python-bidi bids=pybids Bio=biopython \
    bs4=beautifulsoup4 bson=pymongo cairo=pycairo cairosvg=CairoSVG cartopy=Cartopy citeproc=citeproc-py \
    codespell_lib=codespell cpuinfo=py-cpuinfo crossref=crossrefapi Crypto=pycryptodome Cryptodome=pycryptodomex \
    cv2=opencv-python-headless dateutil=python-dateutil decouple=python-decouple deep_translator=deep-translator \
    deepgram=deepgram-sdk discord=discord.py distutils=setuptools dns=dnspython doctr=python-doctr docx=python-docx \
    docxcompose=docxcompose docxtpl=docxtpl dotenv=python-dotenv ebooklib=EbookLib edgar=edgartools \
    edge_tts=edge-tts ee=earthengine-api email_validator=email-validator engineio=python-engineio exa_py=exa-py \
    exifread=ExifRead extract_msg=extract-msg facebook_business=facebook-business faiss=faiss-cpu \
    fake_useragent=fake-useragent faster_whisper=faster-whisper ffmpeg=ffmpeg-python firecrawl=firecrawl-py \
    fitz=PyMuPDF flask=Flask flask_cors=Flask-Cors flask_login=Flask-Login flask_socketio=Flask-SocketIO \
    flask_sqlalchemy=Flask-SQLAlchemy flask_wtf=Flask-WTF fontTools=fonttools freetype=freetype-py \
    frontmatter=python-frontmatter geopandas=geopandas git=GitPython github=PyGithub gitlab=python-gitlab \
    google_auth_httplib2=google-auth-httplib2 google_auth_oauthlib=google-auth-oauthlib \
    googleapiclient=google-api-python-client googlesearch=googlesearch-python grpc=grpcio grpc_tools=grpcio-tools \
    hnswlib=hnswlib html2image=html2image hubspot=hubspot-api-client huggingface_hub=huggingface-hub \
    ibis=ibis-framework imagehash=ImageHash imap_tools=imap-tools imblearn=imbalanced-learn isoweek=isoweek \
    jinja2=Jinja2 jose=python-jose jpype=JPype1 justext=jusText jwt=PyJWT kafka=kafka-python \
    keras_preprocessing=Keras-Preprocessing keystone=keystone-engine kubernetes=kubernetes \
    langchain_anthropic=langchain-anthropic langchain_community=langchain-community langchain_core=langchain-core \
    langchain_openai=langchain-openai langchain_text_splitters=langchain-text-splitters ldap3=ldap3 \
    Levenshtein=python-Levenshtein linkify_it=linkify-it-py llama_cpp=llama-cpp-python llama_index=llama-index \
    magic=python-magic markdown=Markdown markdown_it=markdown-it-py markupsafe=MarkupSafe mastodon=Mastodon.py \
    mdit_py_plugins=mdit-py-plugins mechanicalsoup=MechanicalSoup mem0=mem0ai metpy=MetPy \
    more_itertools=more-itertools mpl_toolkits=matplotlib msgraph=msgraph-sdk msoffcrypto=msoffcrypto-tool \
    mysql=mysql-connector-python MySQLdb=mysqlclient nacl=PyNaCl nasdaqdatalink=nasdaq-data-link nats=nats-py \
    newspaper=newspaper3k notion_client=notion-client odf=odfpy open_clip=open-clip-torch OpenGL=PyOpenGL \
    OpenImageIO=OpenImageIO openslide=openslide-python OpenSSL=pyOpenSSL opentelemetry=opentelemetry-api \
    paddle=paddlepaddle paho=paho-mqtt parsedatetime=parsedatetime pdfminer=pdfminer.six pdfrw=pdfrw \
    peewee_migrate=peewee-migrate phonenumbers=phonenumbers PIL=Pillow pkg_resources=setuptools \
    playwright=playwright plotly=plotly polygon=polygon-api-client poppler=python-poppler pptx=python-pptx \
    prody=ProDy prompt_toolkit=prompt-toolkit psycopg2=psycopg2-binary pwdlib=pwdlib py7zr=py7zr pyarrow=pyarrow \
    pyathena=PyAthena pycountry=pycountry pydantic_settings=pydantic-settings pydriller=PyDriller pyedflib=pyEDFlib \
    pygments=Pygments pylab=matplotlib pymupdf4llm=pymupdf4llm pymupdf=PyMuPDF pymysql=PyMySQL pypandoc=pypandoc \
    pyperclip=pyperclip PyQt5=PyQt5 PyQt6=PyQt6 pyro=pyro-ppl pytest_asyncio=pytest-asyncio pywt=PyWavelets \
    pyzbar=pyzbar rapidfuzz=rapidfuzz rarfile=rarfile readability=readability-lxml \
    rest_framework=djangorestframework rpds=rpds-py ruamel=ruamel.yaml scvi=scvi-tools sendgrid=sendgrid \
    sentence_transformers=sentence-transformers sentry_sdk=sentry-sdk serial=pyserial shapefile=pyshp \
    simple_salesforce=simple-salesforce skbio=scikit-bio skia=skia-python skimage=scikit-image sklearn=scikit-learn \
    skopt=scikit-optimize skrf=scikit-rf sksurv=scikit-survival slack_bolt=slack-bolt slack_sdk=slack-sdk \
    slugify=python-slugify snappy=python-snappy snowflake=snowflake-connector-python socketio=python-socketio \
    socks=PySocks sounddevice=sounddevice soundfile=soundfile speech_recognition=SpeechRecognition \
    spellchecker=pyspellchecker sqlalchemy=SQLAlchemy statsmodels=statsmodels stdnum=python-stdnum svglib=svglib \
    svgpathtools=svgpathtools talib=TA-Lib telegram=python-telegram-bot telethon=Telethon \
    tensorflow_hub=tensorflow-hub tlsh=py-tlsh toml=toml tortoise=tortoise-orm trello=py-trello \
    typing_extensions=typing-extensions tzlocal=tzlocal usb=pyusb uvicorn=uvicorn validators=validators vcr=vcrpy \
    vl_convert=vl-convert-python vobject=vobject vtk=vtk weasyprint=weasyprint webcolors=webcolors \
    websocket=websocket-client werkzeug=Werkzeug whisper=openai-whisper whois=python-whois \
    wikipediaapi=Wikipedia-API wordcloud=wordcloud wx=wxPython Xlib=python-xlib xlsxwriter=XlsxWriter yaml=PyYAML \
    yaml_include=pyyaml-include yara=yara-python youtube_dl=youtube-dl youtube_transcript_api=youtube-transcript-api \
    yt_dlp=yt-dlp zmq=pyzmq azure.ai.documentintelligence=azure-ai-documentintelligence \
    azure.ai.formrecognizer=azure-ai-formrecognizer azure.ai.inference=azure-ai-inference \
    azure.ai.projects=azure-ai-projects azure.ai.textanalytics=azure-ai-textanalytics azure.core=azure-core \
    azure.cosmos=azure-cosmos azure.data.tables=azure-data-tables azure.devops=azure-devops \
    azure.functions=azure-functions azure.identity=azure-identity azure.keyvault.keys=azure-keyvault-keys \
    azure.keyvault.secrets=azure-keyvault-secrets azure.mgmt.compute=azure-mgmt-compute \
    azure.mgmt.network=azure-mgmt-network azure.mgmt.resource=azure-mgmt-resource \
    azure.mgmt.storage=azure-mgmt-storage azure.monitor.query=azure-monitor-query \
    azure.search.documents=azure-search-documents azure.servicebus=azure-servicebus \
    azure.storage.blob=azure-storage-blob azure.storage.filedatalake=azure-storage-file-datalake \
    azure.storage.queue=azure-storage-queue google.ads=google-ads \
    google.ai.generativelanguage=google-ai-generativelanguage google.api_core=google-api-core \
    google.auth=google-auth google.cloud.aiplatform=google-cloud-aiplatform \
    google.cloud.bigquery=google-cloud-bigquery google.cloud.documentai=google-cloud-documentai \
    google.cloud.firestore=google-cloud-firestore google.cloud.logging=google-cloud-logging \
    google.cloud.monitoring_v3=google-cloud-monitoring google.cloud.pubsub=google-cloud-pubsub \
    google.cloud.pubsub_v1=google-cloud-pubsub google.cloud.secretmanager=google-cloud-secret-manager \
    google.cloud.speech=google-cloud-speech google.cloud.storage=google-cloud-storage \
    google.cloud.texttospeech=google-cloud-texttospeech google.cloud.translate=google-cloud-translate \
    google.cloud.translate_v2=google-cloud-translate google.cloud.vision=google-cloud-vision \
    google.genai=google-genai google.generativeai=google-generativeai google.oauth2=google-auth \
    google.protobuf=protobuf google.resumable_media=google-resumable-media \
    opentelemetry.exporter.otlp=opentelemetry-exporter-otlp opentelemetry.sdk=opentelemetry-sdk \
    ruamel.yaml=ruamel.yaml zope.interface=zope.interface";

/// Packages whose module has the same name.
const SAME_NAME: &str = "\
    accelerate advertools aeon aggdraw aiofiles aiohttp aiokafka aiosqlite akshare albumentations ale_py alembic \
    alpha_vantage altair angr anndata annotated_types anthropic anyio arboreto arch argcomplete arq arrow arviz \
    arxiv asana asciichartpy asciimatics ase asgiref assemblyai astral astroid astropy astroquery asyncpg asyncpraw \
    asyncssh atproto audioread authlib autopep8 av babel backoff backtrader bandit baostock bcrypt beanie beartype \
    bert_score bertopic bibtexparser billiard bioservices biotite bitsandbytes black bleach blend_modes blessed \
    blinker blosc2 boilerpy3 bokeh boltons borb boto boto3 botocore bottle braintree brotli cachetools cairocffi \
    caldav camelot capstone casadi cassandra catboost category_encoders cattrs causalml ccxt celery cellrank censys \
    cerberus certifi cffi chainlit chardet charset_normalizer chess chevron chompjs chromadb cirq clevercsv click \
    click_default_group clickhouse_connect clickhouse_driver cloudflare cloudpickle cloudscraper cmaes cmarkgfm \
    cmdstanpy cobra cohere colorama colorcet coloredlogs colorlog colorspacious colorthief colour commonmark \
    comtradeapicall configobj confluent_kafka construct contextily contourpy control convertdate cookiecutter copier \
    courlan coverage crewai croniter cryptography css_inline cssselect cssselect2 cssutils curl_cffi cvxpy cycler \
    cyclopts cytoolz cyvcf2 darts dash dashscope dask databases databricks datamol datasets datashader dateparser \
    deap debugpy deepchem deepdiff deepl deepmerge defusedxml deprecated detect_secrets dgl diagrams dicttoxml \
    diffusers dill dipy discord_webhook diskcache distro django docker docling docopt docutils docx2pdf docx2python \
    docx2txt doit dominate dowhy dramatiq drawsvg dspy duckdb duckdb_engine duckduckgo_search dulwich dynaconf \
    easyocr ecdsa econml einops elasticsearch elephant elevenlabs eli5 email_reply_parser emcee emoji environs ephem \
    esda et_xmlfile eth_account evaluate exchangelib execnet executing extruct fabric fairlearn faker fastapi \
    fastavro fastcore fastmcp fasttext feature_engine feedgen feedparser ffn filelock filetype filterpy fiona fire \
    firebase_admin flair flake8 flashtext flatbuffers flax folium formulas fpdf fredapi frozendict frozenlist fsspec \
    ftfy future fuzzywuzzy gdown geemap genanki gensim geocoder geographiclib geojson geopy gevent gget ghapi gitdb \
    gluonts google_play_scraper googlemaps goose3 gradio graphql graphviz great_expectations greenlet groq gseapy \
    gspread gspread_dataframe gspread_formatting gtts guidance gunicorn gurobipy gymnasium h11 h2 h3 h5py habanero \
    haversine hcloud hdbscan healpy highdicom highspy hijri_converter hjson hmmlearn holidays holoviews hpack \
    html2text html5lib htmldate httplib2 httptools httpx httpx_sse huey humanfriendly humanize hvplot hydra \
    hypercorn hyperlink hypothesis icalendar icecream ics identify idna igraph ijson imageio imageio_ffmpeg \
    imagesize img2pdf impacket inflect inflection influxdb_client iniconfig inquirer instaloader instructor invoke \
    iptcinfo3 ipwhois ipykernel ipywidgets isodate isort itsdangerous jax jaxlib jedi jellyfish jieba jira jiter \
    jiwer jmespath joblib joypy json5 jsondiff jsonlines jsonpatch jsonpath_ng jsonpickle jsonpointer jsonref \
    jsonschema jupytext kaleido keybert keyring kiwisolver kneed kombu kornia langchain langdetect langfuse \
    langgraph langid langsmith language_tool_python lark latex2mathml layoutparser lazy_loader leafmap libcst \
    libpysal librosa lief lifelines lightgbm lightkurve lightning limits linearmodels litellm lizard llama_cloud \
    llama_parse llvmlite locust loguru lunardate lxml lz4 mako mammoth manim manimlib mapbox mapclassify marimo \
    markdown2 markdownify markitdown marshmallow mashumaro matminer matplotlib matplotlib_venn mcp MDAnalysis \
    mdformat mdtraj mdurl medchem mediapipe metapub metar meteostat mido missingno mistralai mistune mitmproxy \
    mizani mkdocs ml_dtypes mlflow mlforecast mlxtend mne mock modelscope moderngl modin molfeat monai mongoengine \
    moto motor moviepy movingpandas mp_api mpmath msal msgpack msgspec mudata multidict multipledispatch muon \
    music21 mutagen mypy nba_api nbconvert nbformat ndjson neo neo4j nest_asyncio netaddr netCDF4 networkx \
    neuralforecast neurokit2 nevergrad nibabel nicegui nilearn nlpaug nltk noisereduce notebook nox num2words numba \
    numexpr numpy numpy_financial numpyro O365 oauthlib ocrmypdf olefile oletools ollama omegaconf onnx onnxruntime \
    openai openmeteo_requests openmm openpyxl opensearchpy opentrons optree optuna oracledb orjson ortools osmium \
    osmnx oss2 outlines overpy oyaml packaging paddleocr palettable pandas pandas_datareader pandera pandoc panel \
    papermill param paramiko parse parsel parso passlib pathspec patsy pdf2docx pdf2image pdfkit pdfplumber pdoc \
    peewee pefile peft pendulum pennylane pettingzoo pexpect pgvector phonopy photutils piexif pika pikepdf \
    pillow_heif pinecone pint pip platformdirs plotext plotille plotnine pluggy plumbum pm4py pmdarima podcastparser \
    polars polib pomegranate pony pooch portalocker pptx2md praw pre_commit prefect premailer presidio_analyzer \
    pretty_midi prettytable prisma probeinterface progressbar prometheus_client propcache prophet proselint \
    psd_tools psutil psycopg ptpython pudb pufferlib pulp pulumi puremagic pyaes pyairtable pyalex pyaml pyasn1 \
    pyautogui pybedtools pyBigWig pybind11 pybtex pycel pycparser pydantic pydantic_ai pydantic_core pydeck pydeseq2 \
    pydicom pydot pydub pydyf pyecharts pyexcel pyexiv2 pyfiglet pyfonts pygal pygame pygit2 pygraphviz pygsheets \
    pygwalker pyhocon pyinstrument pykakasi pykalman pylatexenc pylibdmtx pylint pyluach pymatgen pymc pymongo pymoo \
    pymorphy3 pymssql pynetdicom pynput pyodbc pyogrio pyomo pyowm pyparsing pypdf PyPDF2 PyPDF4 pypdfium2 pyphen \
    pypinyin pyppeteer pyproj pyrogram pyrsistent pysam pyscipopt pyscreeze pyshark pysrt pystache pytesseract \
    pytest pytextrank pythainlp pytorch_lightning pytrends pytz pyvips pyvis pyvista pyxlsb pyzotero qdrant_client \
    qiniu qiskit qrcode QuantLib quantstats quart questionary qutip radon rasterio rasterstats ratelimit rawpy ray \
    rdflib rdkit recurring_ical_events redis regex rembg replicate reportlab requests requests_cache requests_html \
    requests_oauthlib requests_toolbelt resend respx rfc3339_validator rich rich_argparse rich_click rioxarray river \
    rope rouge_score rq rsa ruff s2sphere s3fs s3transfer sacrebleu sacremoses safetensors sanic sb3_contrib scanpy \
    scapy schedule schema scholarly scipy scirpy scrapling scrapy scvelo seaborn sec_api sec_edgar_downloader segno \
    selectolax selenium selenium_stealth seleniumbase semanticscholar semver sentencepiece serpapi setuptools shap \
    shapely shellingham shortuuid SimpleITK simplejson simpy six skops sktime skyfield smart_open smmap smolagents \
    sniffio snowballstemmer snscrape sortedcontainers soupsieve spacy specutils sphinx spikeinterface splunklib \
    sqlfluff sqlglot sqlite_utils sqlmodel sqlparse squarify squidpy srsly srt sse_starlette stable_baselines3 \
    stanza starlette statsd statsforecast strawberry streamlit strictyaml stripe striprtf structlog sunpy suntime \
    supabase supervision surya svgutils svgwrite sweetviz sympy symspellpy tables tabula tabulate taskiq tavily \
    tenacity tensorboard tensorflow termcolor termgraph TexSoup textacy textblob textdistance textstat textual \
    thefuzz thinc threadpoolctl tifffile tika tiktoken timesfm timezonefinder timm tinycss2 tinydb tldextract \
    todoist_api_python together tokenizers tomli tomli_w tomlkit toolz torch torch_geometric torchaudio torchmetrics \
    torchvision tornado tox tqdm trafilatura traitlets transformers translate tree_sitter tree_sitter_javascript \
    tree_sitter_language_pack tree_sitter_python treepoem trimesh trino trio trl trogon troposphere tsfresh tslearn \
    tushare tweepy twilio typeguard typer typst tyro tzdata uharfbuzz ujson ultralytics umap uncertainties unicorn \
    unidecode unstructured urllib3 urwid uvloop vaderSentiment vectorbt vega_datasets virtualenv volatility3 \
    voluptuous vulture waitress wand wandb watchdog watchfiles wbgapi wcwidth weaviate webencodings websockets \
    wechatpy wfdb wheel wikipedia workalendar wrapt xarray xgboost xhtml2pdf xlcalculator xlrd xlutils xlwings xlwt \
    xmlschema xmlsec xmltodict xxhash yagmail yake yarl ydata_profiling yellowbrick yfinance z3 zarr zeep zhipuai \
    zstandard";

/// Modules of [`SAME_NAME`] whose package is written with another separator or case are installed under the same name:
/// package names ignore case, and treat `_`, `-` and `.` alike.
fn table() -> &'static HashMap<&'static str, &'static str> {
    static TABLE: OnceLock<HashMap<&'static str, &'static str>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let renamed = RENAMED.split_ascii_whitespace().filter_map(|entry| entry.split_once('='));
        let same = SAME_NAME.split_ascii_whitespace().map(|name| (name, same_name_package(name)));
        same.chain(renamed).collect()
    })
}

/// Returns the package of a module that shares its name, for the few that differ by more than a separator.
fn same_name_package(module: &'static str) -> &'static str {
    match module {
        "camelot" => "camelot-py",
        "cassandra" => "cassandra-driver",
        "databricks" => "databricks-sdk",
        "fpdf" => "fpdf2",
        "graphql" => "graphql-core",
        "gtts" => "gTTS",
        "hydra" => "hydra-core",
        "opensearchpy" => "opensearch-py",
        "progressbar" => "progressbar2",
        "rpds" => "rpds-py",
        "sphinx" => "Sphinx",
        "splunklib" => "splunk-sdk",
        "strawberry" => "strawberry-graphql",
        "surya" => "surya-ocr",
        "tabula" => "tabula-py",
        "tavily" => "tavily-python",
        "umap" => "umap-learn",
        "wand" => "Wand",
        "weaviate" => "weaviate-client",
        "z3" => "z3-solver",
        module => module,
    }
}

/// Namespace packages: their first component alone says nothing.
const NAMESPACES: &[&str] = &["google", "azure", "zope", "backports"];

/// Returns the package that provides a module, and the part of the module's name that belongs to the package.
pub(super) fn package_of(module: &[&str]) -> Option<(&'static str, String)> {
    (1..=module.len().min(4)).rev().find_map(|length| {
        let name = module[..length].join(".");
        Some((*table().get(name.as_str())?, name))
    })
}

/// Returns `true` if the first component of a module is shared by many packages.
pub(super) fn is_namespace(module: &str) -> bool {
    NAMESPACES.contains(&module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_modules_have_their_package() {
        let package = |module: &str| {
            package_of(&module.split('.').collect::<Vec<_>>())
                .map(|(package, _)| package)
                .unwrap_or("unknown")
        };
        for (module, expected) in [
            ("PIL.Image", "Pillow"),
            ("docx", "python-docx"),
            ("pptx.util", "python-pptx"),
            ("yaml", "PyYAML"),
            ("cv2", "opencv-python-headless"),
            ("bs4", "beautifulsoup4"),
            ("sklearn.svm", "scikit-learn"),
            ("fitz", "PyMuPDF"),
            ("google.cloud.storage.blob", "google-cloud-storage"),
            ("google.genai", "google-genai"),
            ("google", "unknown"),
            ("google.unknown", "unknown"),
            ("azure.storage.blob", "azure-storage-blob"),
            ("mpl_toolkits.mplot3d", "matplotlib"),
            ("openpyxl.styles", "openpyxl"),
            ("rpds", "rpds-py"),
            ("scvi.model", "scvi-tools"),
            ("requets", "unknown"),
        ] {
            assert_eq!(package(module), expected, "{module}");
        }
    }

    #[test]
    fn every_entry_is_a_valid_name() {
        assert!(table().len() > 1200, "{}", table().len());
        for (module, package) in table() {
            assert!(super::super::Requirement::parse(package).is_ok(), "{package}");
            assert!(module.split('.').all(|part| !part.is_empty()), "{module}");
        }
        let same: Vec<_> = SAME_NAME.split_ascii_whitespace().collect();
        let distinct: std::collections::HashSet<_> = same.iter().collect();
        assert_eq!(same.len(), distinct.len(), "duplicate entries");
    }
}
